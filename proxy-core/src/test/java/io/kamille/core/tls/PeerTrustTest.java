package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.netty.handler.ssl.OpenSslCertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What clients whose certificate is refused are told (RFC 8446 §6.2), by BoringSSL's numbers. */
class PeerTrustTest {

  private static final int UNABLE_TO_GET_ISSUER = 20;

  private static void verify(List<X509Certificate> authorities, ServerCertificate shown)
      throws Exception {
    new PeerTrust(authorities)
        .checkClientTrusted(shown.chain().toArray(X509Certificate[]::new), "EC");
  }

  @Test
  void aCertificateOfAnAuthorityIsVerified() throws Exception {
    Certificates authority = new Certificates("authority");
    ServerCertificate shown = authority.ecdsa("client.test");
    assertThatCode(() -> verify(List.of(authority.authority()), shown)).doesNotThrowAnyException();
  }

  @Test
  void oneOfAnotherAuthorityIsOfAnUnknownOne() throws Exception {
    ServerCertificate shown = new Certificates("another").ecdsa("client.test");
    List<X509Certificate> authorities = List.of(new Certificates("authority").authority());
    assertThatExceptionOfType(OpenSslCertificateException.class)
        .isThrownBy(() -> verify(authorities, shown))
        .matches(refused -> refused.errorCode() == UNABLE_TO_GET_ISSUER);
  }
}
