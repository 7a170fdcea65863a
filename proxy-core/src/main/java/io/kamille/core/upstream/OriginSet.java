package io.kamille.core.upstream;

import io.kamille.core.tls.OriginTls;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The origins that a handler has at a time. Immutable; compared by identity.
 *
 * @param origins perhaps none
 * @param tls for those that speak it; null if none does
 * @param sticky null if clients may change their origin
 */
record OriginSet(List<Origin> origins, @Nullable OriginTls tls, @Nullable StickyCookie sticky) {

  OriginSet {
    origins = List.copyOf(origins);
    if (tls == null && origins.stream().anyMatch(origin -> origin.url().isSecure())) {
      throw new IllegalArgumentException("tls: none (expected: some, as an origin speaks it)");
    }
  }
}
