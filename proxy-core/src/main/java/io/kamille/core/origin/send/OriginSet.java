package io.kamille.core.origin.send;

import io.kamille.core.origin.Origin;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.tls.OriginTls;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The origins that a handler has at a time.
 *
 * @param origins perhaps none
 * @param tls for those that speak it; null if none does
 * @param sticky null if clients may change their origin
 */
record OriginSet(List<Origin> origins, @Nullable OriginTls tls, @Nullable StickyCookie sticky) {

  OriginSet {
    if (tls == null && origins.stream().anyMatch(origin -> origin.url().isSecure())) {
      throw new IllegalArgumentException("tls: none (expected: some, as an origin speaks it)");
    }
    origins = List.copyOf(origins);
  }
}
