package io.kamille.core.tls;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The certificate that a client showed and that was verified, as its requests tell origins (RFC
 * 9440). Immutable; any thread.
 *
 * @param certificate the value of {@code Client-Cert}
 * @param subject whose it is (RFC 4514), in visible ASCII
 */
public record ClientCertificate(String certificate, String subject) {

  private static final long FIELDS =
      Fields.mask(
          FieldName.CLIENT_CERT, FieldName.CLIENT_CERT_CHAIN, FieldName.CLIENT_CERT_SUBJECT);

  /** That of a session; null if the client showed none. */
  public static @Nullable ClientCertificate of(SSLSession session) {
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate shown ? of(shown) : null;
    } catch (SSLPeerUnverifiedException none) {
      return null;
    }
  }

  static ClientCertificate of(X509Certificate shown) {
    try {
      return new ClientCertificate(
          ":" + Base64.getEncoder().encodeToString(shown.getEncoded()) + ":",
          visible(shown.getSubjectX500Principal().getName()));
    } catch (CertificateEncodingException broken) {
      throw new IllegalStateException("a certificate that was read can be written", broken);
    }
  }

  /**
   * With all other octets as pairs of hexadecimal digits (RFC 4514 §2.4): no subject ends a line.
   */
  private static String visible(String name) {
    StringBuilder text = new StringBuilder();
    for (byte octet : name.getBytes(StandardCharsets.UTF_8)) {
      if (octet >= ' ' && octet < 0x7f) {
        text.append((char) octet);
      } else {
        text.append('\\')
            .append(Character.forDigit(octet >> 4 & 0xf, 16))
            .append(Character.forDigit(octet & 0xf, 16));
      }
    }
    return text.toString();
  }

  /**
   * Has a request say whose it is, and removes what its client says about that.
   *
   * @param shown null if the client has shown no certificate
   */
  public static void tell(@Nullable ClientCertificate shown, Fields request) {
    if (request.hasAny(FIELDS)) {
      request.remove(FieldName.CLIENT_CERT);
      request.remove(FieldName.CLIENT_CERT_CHAIN);
      request.remove(FieldName.CLIENT_CERT_SUBJECT);
    }
    if (shown != null) {
      request.add(FieldName.CLIENT_CERT, shown.certificate);
      request.add(FieldName.CLIENT_CERT_SUBJECT, shown.subject);
    }
  }
}
