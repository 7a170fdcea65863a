package io.kamille.core.origin.send;

import io.kamille.core.origin.Origin;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.tls.OriginTls;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The origins that a handler has at a time. Immutable; compared by identity. */
final class OriginSet {

  private final List<Origin> origins;
  private final @Nullable OriginTls tls;
  private final @Nullable StickyCookie sticky;

  /**
   * These.
   *
   * @param origins perhaps none
   * @param tls for those that speak it; null if none does
   * @param sticky null if clients may change their origin
   */
  OriginSet(List<Origin> origins, @Nullable OriginTls tls, @Nullable StickyCookie sticky) {
    if (tls == null && origins.stream().anyMatch(origin -> origin.url().isSecure())) {
      throw new IllegalArgumentException("tls: none (expected: some, as an origin speaks it)");
    }
    this.origins = List.copyOf(origins);
    this.tls = tls;
    this.sticky = sticky;
  }

  List<Origin> origins() {
    return origins;
  }

  @Nullable OriginTls tls() {
    return tls;
  }

  @Nullable StickyCookie sticky() {
    return sticky;
  }
}
