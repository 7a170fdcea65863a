package io.kamille.launcher.acme;

import io.kamille.core.tls.ServerCertificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One certificate, as the control plane shows it. Times are in ISO 8601; a text is empty if there
 * is nothing to tell. Immutable.
 *
 * @param issuer who has issued it
 * @param lifetimeLeft the share of its lifetime that is left; 0 if there is none
 * @param next when it is ordered again; empty if an operator has to do something before
 * @param why why then
 * @param error why the last order failed, with advice
 * @param steps of the last order or rehearsal
 * @param isRehearsed whether a rehearsal is under way
 */
public record CertificateView(
    String name,
    String issuer,
    String notBefore,
    String notAfter,
    double lifetimeLeft,
    String next,
    String why,
    int failures,
    String error,
    List<String> steps,
    boolean isRehearsed) {

  static CertificateView of(
      String name,
      @Nullable ServerCertificate certificate,
      RenewalPlan renewal,
      List<String> steps,
      Instant now,
      boolean isRehearsed) {
    Instant due = renewal.due(certificate, now);
    return new CertificateView(
        name,
        certificate == null
            ? ""
            : certificate.chain().getFirst().getIssuerX500Principal().getName(),
        certificate == null ? "" : certificate.notBefore().toString(),
        certificate == null ? "" : certificate.notAfter().toString(),
        certificate == null ? 0 : left(certificate, now),
        due.equals(Instant.MAX) ? "" : (due.isAfter(now) ? due : now).toString(),
        renewal.why(certificate, now),
        renewal.failures(),
        renewal.error(),
        steps,
        isRehearsed);
  }

  private static double left(ServerCertificate certificate, Instant now) {
    Duration whole = Duration.between(certificate.notBefore(), certificate.notAfter());
    Duration left = Duration.between(now, certificate.notAfter());
    return Math.max(0, left.toSeconds() / (double) Math.max(1, whole.toSeconds()));
  }
}
