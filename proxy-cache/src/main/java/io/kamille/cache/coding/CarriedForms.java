package io.kamille.cache.coding;

import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.CodedForms.Form;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The coded forms of a response that is about to get a new head (RFC 9111 §4.3.4): they get one
 * too, and their content stays. Confined to one thread; owns one lease on each form until {@link
 * #under} or {@link #release}.
 */
public final class CarriedForms {

  private final boolean isCoded;
  private final List<Form> forms = new ArrayList<>();

  private CarriedForms(CodedForms before) {
    isCoded = before != CodedForms.NEVER && before != CodedForms.NOT_YET;
    for (Form form : before.all()) {
      if (form.response().tryRetain()) {
        forms.add(form);
      }
    }
  }

  /** The forms of that response, held so that they outlast it. */
  public static CarriedForms of(StoredResponse before) {
    return new CarriedForms(before.forms());
  }

  /** Whether the content was coded, even if nothing was worth keeping. */
  boolean isCoded() {
    return isCoded;
  }

  /**
   * The forms of {@code after}, the response with its new head. Ends the leases here; each form has
   * a new one that the caller owns. One for whose head there is no memory is lost.
   *
   * @param home the number of the caller's loop
   */
  CodedForms under(StoredResponse after, Store store, int home) {
    List<Form> carried = new ArrayList<>();
    for (Form form : forms) {
      StoredResponse freshened = freshened(form, after, store, home);
      if (freshened != null) {
        carried.add(new Form(form.coding(), freshened));
      }
    }
    release();
    return CodedForms.of(carried);
  }

  private static @Nullable StoredResponse freshened(
      Form form, StoredResponse after, Store store, int home) {
    ByteBuf octets = Unpooled.buffer(1024);
    EncodedHead encoded = head(after, form.coding(), octets);
    Reservation reservation = store.reserve(null, encoded.length(), home);
    if (reservation == null) {
      return null;
    }
    boolean isWritten = reservation.append(octets);
    assert isWritten;
    return form.response()
        .freshened(encoded, reservation.finish(), after.facts().weakened(), after.selecting());
  }

  /** Writes the head of a coded form of that response. Needs a lease on it. */
  static EncodedHead head(StoredResponse uncoded, ContentCoding coding, ByteBuf out) {
    return ResponseCodec.encode(uncoded.uri(), CompressionRules.coded(uncoded.head(), coding), out)
        .withCacheStatus(uncoded.upstreamCacheStatus());
  }

  /** Ends the leases. Idempotent. */
  public void release() {
    forms.forEach(form -> form.response().release());
    forms.clear();
  }
}
