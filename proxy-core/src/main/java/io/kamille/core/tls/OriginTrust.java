package io.kamille.core.tls;

import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was in the files of {@link OriginTlsSettings}: equal as long as their content is. Immutable;
 * any thread.
 *
 * @param authorities who may have signed origins' certificates; empty if nobody looks at them
 * @param own what an origin is shown that asks; null for nothing
 */
public record OriginTrust(List<X509Certificate> authorities, @Nullable ServerCertificate own) {

  public OriginTrust {
    authorities = List.copyOf(authorities);
  }
}
