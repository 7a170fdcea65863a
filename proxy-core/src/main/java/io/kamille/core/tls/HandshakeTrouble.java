package io.kamille.core.tls;

import io.kamille.core.exchange.Failure.ErrorType;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Why TLS with an origin came to nothing, in the words of RFC 9209 §2.3. Immutable.
 *
 * @param reason what the origin did, or what is wrong with its certificate
 */
public record HandshakeTrouble(ErrorType kind, String reason) {

  /*
   * BoringSSL and the JDK say by texts alone whether an alert came. BoringSSL's begin with a number
   * whose last six digits are 1,000 and the alert's own.
   */
  private static final Pattern BORINGSSL = Pattern.compile("error:10([0-9a-f]{6}):.*:(\\w+)");
  private static final String JDK = "Received fatal alert: ";
  private static final int FIRST_ALERT = 1_000;
  private static final int LAST_ALERT = FIRST_ALERT + 255;
  private static final int MOST_CAUSES = 16;
  private static final int MOST_CHARACTERS = 200;

  /** A part of the reason may be what the origin wrote into its certificate. */
  public HandshakeTrouble {
    reason =
        reason.length() > MOST_CHARACTERS ? reason.substring(0, MOST_CHARACTERS - 1) + "…" : reason;
    reason = reason.replaceAll("\\p{Cntrl}", "?");
  }

  /**
   * What was thrown.
   *
   * @param name what the certificate had to be for
   * @return null if it is not about TLS
   */
  public static @Nullable HandshakeTrouble of(Throwable thrown, String name) {
    SSLException ofTls = null;
    CertificateException ofCertificate = null;
    Throwable cause = thrown;
    for (int i = 0; i < MOST_CAUSES && cause != null; i++) {
      if (cause instanceof SSLException trouble && ofTls == null) {
        ofTls = trouble;
      } else if (cause instanceof CertificateException refused) {
        ofCertificate = refused;
      }
      cause = cause.getCause();
    }
    if (ofCertificate != null) {
      return new HandshakeTrouble(
          ErrorType.TLS_CERTIFICATE_ERROR, certificate(ofCertificate, name));
    }
    return ofTls == null ? null : of(ofTls);
  }

  /** What was thrown, without what Netty's decoders wrap around it if it is about TLS. */
  public static Throwable unwrapped(Throwable thrown) {
    return thrown instanceof DecoderException && thrown.getCause() instanceof SSLException ofTls
        ? ofTls
        : thrown;
  }

  private static String certificate(CertificateException refused, String name) {
    String message = String.valueOf(refused.getMessage());
    return switch (refused) {
      case CertificateExpiredException _ -> "has an expired certificate: " + message;
      case CertificateNotYetValidException _ -> "has a certificate of the future: " + message;
      default -> {
        if (message.contains("unable to find valid certification path")) {
          yield "has a certificate of an unknown authority (tls.ca)";
        }
        yield message.startsWith("No subject") || message.startsWith("No name")
            ? "has a certificate that is not for " + name + " (tls.name)"
            : "has a certificate that is refused: " + message;
      }
    };
  }

  private static HandshakeTrouble of(SSLException trouble) {
    String message = String.valueOf(trouble.getMessage());
    if (trouble instanceof SslHandshakeTimeoutException) {
      return new HandshakeTrouble(
          ErrorType.CONNECTION_TIMEOUT, "did not end the TLS handshake in time");
    }
    if (trouble instanceof NotSslRecordException) {
      return new HandshakeTrouble(ErrorType.TLS_PROTOCOL_ERROR, "does not speak TLS");
    }
    Matcher boringSsl = BORINGSSL.matcher(message);
    if (boringSsl.find()) {
      int number = Integer.parseInt(boringSsl.group(1), 16);
      String word = boringSsl.group(2).toLowerCase(Locale.ROOT);
      return number >= FIRST_ALERT && number <= LAST_ALERT
          ? alert(word)
          : new HandshakeTrouble(ErrorType.TLS_PROTOCOL_ERROR, "broke the rules of TLS: " + word);
    }
    return message.contains(JDK)
        ? alert(message.substring(message.indexOf(JDK) + JDK.length()))
        : new HandshakeTrouble(ErrorType.TLS_PROTOCOL_ERROR, "broke the rules of TLS: " + message);
  }

  private static HandshakeTrouble alert(String word) {
    return new HandshakeTrouble(ErrorType.TLS_ALERT_RECEIVED, "sent a TLS alert: " + word);
  }
}
