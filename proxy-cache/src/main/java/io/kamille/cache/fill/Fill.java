package io.kamille.cache.fill;

import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StorableFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.Store;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A storable response on its way into the store, where followers may read it already. Ended by
 * exactly one of {@link #complete} or {@link #abandon}.
 *
 * <p>Confined to the loop of its exchange.
 */
final class Fill {

  /** It is stored, and an older variant is not any more. */
  static final String VARIANT_LIMIT = "variant-limit";

  /**
   * The head of a response that is going to be stored, and all that is known from it.
   *
   * @param fields what is stored of the head (RFC 9111 §3.1)
   * @param encoded what the octets are
   * @param octets the head as it will lie in the store; the loop's, until it puts the next together
   * @param facts what decides about reuse
   * @param selecting the request fields that select the response
   * @param forms whether the response is to be given content codings
   */
  record Head(
      ResponseHead fields,
      EncodedHead encoded,
      ByteBuf octets,
      StoredFacts facts,
      SelectingFields selecting,
      CodedForms forms) {

    /** The storable part of {@code head}, which it borrows, put together in {@code octets}. */
    static Head of(
        Fetch fetch,
        ResponseHead head,
        CacheControl control,
        StoredFacts facts,
        VaryBy varyBy,
        CodedForms forms,
        ByteBuf octets) {
      ResponseHead fields =
          ResponseHead.of(
              head.status(), StorableFields.of(head.fields(), control, facts.responseTime()));
      EncodedHead encoded = ResponseCodec.encode(fetch.uri(), fields, octets);
      SelectingFields selecting =
          fetch.selecting(SelectingFields.of(head.fields(), fetch.request(), varyBy));
      StoredFacts tagged = facts.tagged(Tags.of(fetch.request(), head.fields()));
      return new Head(fields, encoded, octets, tagged, selecting, forms);
    }

    /** What it takes in the store. */
    int length() {
      return encoded.length();
    }

    /** The same with its content, as far as it is known how long that is. */
    long lengthWith(long contentLength) {
      return length() + Math.max(0, contentLength);
    }
  }

  private final Store store;
  private final Fetch fetch;
  private final Reservation reservation;
  private final Head head;
  private final long expectedLength;
  private final long limitBytes;

  private Fill(
      Store store,
      Fetch fetch,
      Reservation reservation,
      Head head,
      long expectedLength,
      long limitBytes) {
    this.store = store;
    this.fetch = fetch;
    this.reservation = reservation;
    this.head = head;
    this.expectedLength = expectedLength;
    this.limitBytes = limitBytes;
  }

  /**
   * Makes room for a response that {@linkplain Store#pays pays} and puts its head there.
   *
   * @param contentLength octets to come, or {@link Reply#UNKNOWN_LENGTH}
   * @param limitBytes what head and content may take
   * @param home the number of the caller's loop
   * @return null if there is no memory
   */
  static @Nullable Fill begin(
      Store store, Fetch fetch, Head head, long contentLength, long limitBytes, int home) {
    Reservation reservation = store.reserve(fetch.key(), head.lengthWith(contentLength), home);
    if (reservation == null) {
      return null;
    }
    boolean isWritten = reservation.append(head.octets());
    assert isWritten;
    return new Fill(store, fetch, reservation, head, contentLength, limitBytes);
  }

  /** Lets those who wait read along. They get what later requests will get, no more; once. */
  void share(InFlight flight, long nowEpochSeconds) {
    StoredFacts facts = head.facts();
    ResponseHead shared = head.fields();
    shared.fields().add(FieldName.AGE, Integer.toString(facts.ageSeconds(nowEpochSeconds)));
    flight.publish(
        new Stage.Filling(
            shared,
            reservation.octets(),
            head.length(),
            expectedLength,
            head.selecting(),
            facts,
            facts.ttlSeconds(nowEpochSeconds)));
  }

  /** Octets of content written so far. */
  long length() {
    return reservation.length() - head.length();
  }

  /** Octets of content to come in all, or {@link Reply#UNKNOWN_LENGTH}. */
  long expectedLength() {
    return expectedLength;
  }

  /** What the content is written into, from {@link #contentOffset} on. */
  StoredOctets octets() {
    return reservation.octets();
  }

  long contentOffset() {
    return head.length();
  }

  int status() {
    return head.encoded().status();
  }

  /**
   * Copies a chunk into the store. Borrows it.
   *
   * @return why that is impossible, or null
   */
  @Nullable Storability append(ByteBuf chunk) {
    if (expectedLength >= 0 && length() + chunk.readableBytes() > expectedLength) {
      return Storability.TOO_LONG;
    }
    if (reservation.length() + chunk.readableBytes() > limitBytes) {
      return Storability.TOO_LARGE;
    }
    if (reservation.append(chunk)) {
      return null;
    }
    return reservation.isOutweighed() ? Storability.NOT_ADMITTED : Storability.NO_MEMORY;
  }

  /** Whether everything that was announced is there. */
  boolean isComplete() {
    return expectedLength < 0 || length() == expectedLength;
  }

  /**
   * Makes the response visible to the next request, or only ends it. The caller owns one lease on
   * it.
   */
  StoredResponse complete(boolean isKept) {
    return store.put(
        fetch.key(),
        reservation,
        isKept ? fetch.before() : Store.Moment.NEVER,
        null,
        octets ->
            StoredResponse.of(head.encoded(), octets, head.facts(), head.selecting())
                .with(head.forms()));
  }

  /** Gives the room back. Readers keep what they hold leases on. */
  void abandon() {
    reservation.abandon();
  }
}
