package io.kamille.core.tls;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.util.List;

/**
 * Which versions and cipher suites are offered, in the words of Mozilla's guidelines. Immutable.
 */
public enum TlsProfile {
  /** TLS 1.2 with forward secrecy and AEAD alone, and TLS 1.3. */
  INTERMEDIATE,
  /** TLS 1.3 alone. */
  MODERN;

  private static final List<String> SUITES =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  /**
   * Offers its versions, the suites of all versions, each of which may be used under HTTP/2 (RFC
   * 9113 §9.2.2), and these protocols by ALPN.
   */
  SslContextBuilder offer(SslContextBuilder builder, List<String> protocols) {
    return builder
        .protocols(this == MODERN ? List.of("TLSv1.3") : List.of("TLSv1.3", "TLSv1.2"))
        .ciphers(SUITES, SupportedCipherSuiteFilter.INSTANCE)
        .applicationProtocolConfig(
            new ApplicationProtocolConfig(
                Protocol.ALPN,
                SelectorFailureBehavior.NO_ADVERTISE,
                SelectedListenerFailureBehavior.ACCEPT,
                protocols));
  }
}
