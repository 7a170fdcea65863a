package io.kamille.cache.fill;

import io.kamille.cache.coding.CarriedForms;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Freshening;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.rules.Validators;
import io.kamille.cache.serve.CacheCounters.Event;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What was stored before a fetch, and what the origin's answer makes of it: it is freshened, stands
 * in for an error, or is replaced (RFC 9111 §4.3.3, RFC 5861 §4).
 *
 * <p>Confined to the loop of its exchange. Owns one lease on the response until one of {@link
 * #answeredBy}, {@link #failed} or {@link #close}.
 */
final class StaleCandidate {

  private final CacheRoute route;
  private final Fetch fetch;
  private final boolean isConditional;
  private final boolean isStillStored;
  private final StoredFacts facts;
  private @Nullable StoredResponse stored;

  /** What the answer has shown not to be what the origin has; without a lease. */
  private @Nullable StoredResponse unsuitable;

  /** Whether the answer has the same strong entity tag. */
  private boolean isSame;

  /**
   * Takes over one lease on {@code stored}. Comes after the fetch has taken its moment: who was
   * removed before that, the commit would not notice.
   *
   * @param isConditional whether the request carries its validators, so that a 304 is about it
   */
  StaleCandidate(CacheRoute route, Fetch fetch, StoredResponse stored, boolean isConditional) {
    this.route = route;
    this.fetch = fetch;
    this.stored = stored;
    this.facts = stored.facts();
    this.isConditional = isConditional;
    this.isStillStored = route.store().holds(fetch.key(), stored);
  }

  /**
   * Whether this is a 304 about something else than what we asked about, so that it must not be
   * used (RFC 9111 §4.3.4).
   */
  boolean isMistaken(ResponseHead head) {
    return stored != null
        && isConditional
        && head.status() == StatusCode.NOT_MODIFIED
        && !(Validators.selects(head, stored.facts()) && hasCodingOf(stored, head));
  }

  /** The same for a request that goes out again without conditions. Takes over the lease. */
  @Nullable StaleCandidate again(Fetch next) {
    StoredResponse still = stored;
    stored = null;
    return still == null ? null : new StaleCandidate(route, next, still, false);
  }

  /**
   * The stored response to send on this answer, freshened or in place of an error; null if it is
   * the origin's own that goes to the client. The caller owns one lease.
   *
   * @param length octets of content that {@code head} tells of, or -1
   */
  @Nullable StoredResponse answeredBy(ResponseHead head, long length, long now) {
    StoredResponse asked = stored;
    if (asked == null) {
      return null;
    }
    if (isConfirmed(head, length, asked)) {
      route.counters().count(Event.FRESHENED);
      stored = null;
      freshenOthers(asked, head, length, now);
      return freshened(asked, head, now);
    }
    if (StoredFacts.isError(head.status())) {
      return failed(now);
    }
    route.counters().count(Event.REPLACED);
    unsuitable = isShownUnsuitable(head, length, asked, now) ? asked : null;
    isSame = Validators.sharesStrongTag(head, asked.facts());
    close();
    return null;
  }

  /**
   * A full response shows that what it was asked about is not suitable (§4.3.3), and so does a
   * response to HEAD that contradicts it (§4.3.5). What is fresh stays: one client could have it
   * removed by no-cache and a cookie, but for a HEAD with other validators.
   */
  private boolean isShownUnsuitable(
      ResponseHead head, long length, StoredResponse asked, long now) {
    int status = head.status();
    boolean isOther =
        !isHead() || Validators.contradicts(head, length, asked.facts(), asked.contentLength());
    return isOther
        && (!asked.facts().isReusable(now) || (isHead() && status == StatusCode.OK))
        && Storability.isOfResource(status)
        && status != StatusCode.NOT_MODIFIED
        && status != StatusCode.PARTIAL_CONTENT
        && (status >= 400 || !isAuthorized());
  }

  /** The answer is complete: what it shows to be unsuitable is removed, unless it was replaced. */
  void answered(boolean isStored, long now) {
    if (unsuitable != null && !(isStored && isSame)) {
      route.store().withdraw(fetch.key(), unsuitable, isHead() ? Long.MAX_VALUE : now);
      unsuitable = null;
    }
  }

  /** Whether it is no error and may still be used. */
  boolean isGood(long now) {
    return facts.isGood(now);
  }

  /**
   * Whether an update leaves the content coding as it is. Another one would be said of content that
   * does not have it, whatever the tags say.
   */
  private static boolean hasCodingOf(StoredResponse asked, ResponseHead update) {
    String coding = update.field(FieldName.CONTENT_ENCODING);
    return coding == null || coding.equalsIgnoreCase(codingOf(asked));
  }

  private static String codingOf(StoredResponse asked) {
    String coding = asked.head().field(FieldName.CONTENT_ENCODING);
    return coding == null ? "identity" : coding;
  }

  /** A 304 to what we asked, or a 200 to HEAD that shows the same (§4.3.5). */
  private boolean isConfirmed(ResponseHead head, long length, StoredResponse asked) {
    ResponseHead.Relay relay = head.relay();
    boolean isOfOrigin = relay == null || relay.isKept();
    return (isConditional && head.status() == StatusCode.NOT_MODIFIED)
        || (isHead()
            && isOfOrigin
            && Validators.confirms(head, length, asked.facts(), asked.contentLength())
            && hasCodingOf(asked, head));
  }

  /** What the origin tells one who is authorized says nothing of what others get (§3.5). */
  private boolean isAuthorized() {
    return fetch.request().isAuthenticated();
  }

  private boolean isHead() {
    return fetch.request().method() == Method.HEAD;
  }

  /** The stored response to send because there is no answer; null if it may not be. */
  @Nullable StoredResponse failed(long now) {
    StoredResponse asked = stored;
    if (asked == null) {
      return null;
    }
    route.counters().count(Event.VALIDATION_FAILED);
    if (!route.server().mayStandIn(asked, fetch.demands(), fetch.forwarding(), now)) {
      close();
      return null;
    }
    stored = null;
    return asked;
  }

  /** Whether it may answer if the origin is slow. */
  boolean mayStandInLate(long now) {
    return stored != null
        && StoreServer.mayStandInLate(route.settings(), stored, fetch.demands(), now);
  }

  /** The response if it may answer because the origin is slow; the caller owns a lease, or null. */
  @Nullable StoredResponse late(long now) {
    return mayStandInLate(now) && stored != null && stored.tryRetain() ? stored : null;
  }

  /** Ends the lease, if it is still held. */
  void close() {
    if (stored != null) {
      stored.release();
      stored = null;
    }
  }

  /** Puts a new head before the old content, in the store too if both may stay there. */
  private StoredResponse freshened(StoredResponse asked, ResponseHead update, long now) {
    Freshening news =
        Freshening.of(
            fetch.request(),
            asked.head(),
            update,
            route.settings().policy(),
            route.settings().varyBy(),
            fetch.requestTime(),
            now);
    boolean isCodable = isCodable(asked, news.head());
    if (isCodable) {
      CompressionRules.addVary(news.head().fields());
    }
    ByteBuf octets = route.headOctets();
    EncodedHead encoded = ResponseCodec.encode(fetch.uri(), news.head(), octets);
    Reservation reservation = route.store().reserve(null, encoded.length(), route.home());
    if (reservation == null) {
      fetch.forwarding().detail(Storability.NO_MEMORY.detail());
      return asked;
    }
    boolean isWritten = reservation.append(octets);
    assert isWritten;
    Tags tags = asked.facts().tags().updated(fetch.request(), update.fields());
    StoredFacts facts = news.facts().tagged(tags);
    SelectingFields selecting =
        isOfCodings(asked) ? news.selecting() : fetch.selecting(news.selecting());
    Store.Completion underNewHead =
        head ->
            asked
                .freshened(encoded, head, facts, selecting)
                .with(isCodable ? CodedForms.NOT_YET : CodedForms.NEVER);
    CarriedForms forms = CarriedForms.of(asStored(asked));
    StoredResponse freshened = keep(asked, news, reservation, underNewHead);
    route.stored(fetch, freshened);
    if (isCodable && news.storability().isStorable()) {
      freshened = route.carry(fetch, forms, freshened);
    }
    forms.release();
    asked.release();
    return freshened;
  }

  private boolean isCodable(StoredResponse asked, ResponseHead freshened) {
    return fetch.asksForIdentity()
        && !isOfCodings(asked)
        && route.settings().coding().isCodable(freshened, asked.contentLength());
  }

  /** Whether the codings a request takes have decided which response it is. */
  private static boolean isOfCodings(StoredResponse asked) {
    return asked.selecting().has(FieldName.ACCEPT_ENCODING);
  }

  /** The same as the store has it by now, perhaps with coded forms. */
  private StoredResponse asStored(StoredResponse asked) {
    Variants variants = route.store().find(fetch.key());
    StoredResponse same = variants == null ? null : variants.sameContent(asked);
    return same == null ? asked : same;
  }

  /** Brings up to date what else the request selects and the answer is about (§4.3.4, §4.3.5). */
  private void freshenOthers(StoredResponse asked, ResponseHead update, long length, long now) {
    Variants variants = route.store().find(fetch.key());
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse other = variants.at(i);
      if (!other.isSameContent(asked)
          && other.selecting().matches(fetch.request())
          && other.tryRetain()) {
        if (isAbout(update, length, other)) {
          freshened(other, update, now).release();
        } else {
          other.release();
        }
      }
    }
  }

  private boolean isAbout(ResponseHead update, long length, StoredResponse other) {
    if (!hasCodingOf(other, update)) {
      return false;
    }
    return update.status() == StatusCode.NOT_MODIFIED
        ? Validators.sharesStrongTag(update, other.facts())
        : Validators.confirms(update, length, other.facts(), other.contentLength());
  }

  private StoredResponse keep(
      StoredResponse asked, Freshening news, Reservation reservation, Store.Completion completion) {
    if (news.storability().isStorable()) {
      return isStillStored
          ? route.store().put(fetch.key(), reservation, fetch.before(), asked, completion)
          : completion.of(reservation.finish());
    }
    route.refused(fetch, news.head().status(), news.storability());
    if (!isAuthorized()) {
      route.store().withdraw(fetch.key(), asked, Long.MAX_VALUE);
    }
    return completion.of(reservation.finish());
  }
}
