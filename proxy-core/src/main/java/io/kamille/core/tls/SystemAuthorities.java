package io.kamille.core.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/** The authorities that the system trusts. Stateless; any thread. */
public final class SystemAuthorities {

  /** Where distributions keep them: Debian and Alpine, Red Hat, SUSE. */
  private static final List<Path> FILES =
      List.of(
          Path.of("/etc/ssl/certs/ca-certificates.crt"),
          Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
          Path.of("/etc/ssl/ca-bundle.pem"));

  private SystemAuthorities() {}

  /**
   * Those of the distribution, or else those that come with the JDK.
   *
   * @throws IOException with one sentence, if the file cannot be read
   */
  static List<X509Certificate> read() throws IOException {
    for (Path file : FILES) {
      if (Files.isRegularFile(file)) {
        return PemFile.certificates(file);
      }
    }
    try {
      return List.of(PeerTrust.usual(null).getAcceptedIssuers());
    } catch (GeneralSecurityException missing) {
      throw new IOException("the system's authorities cannot be read: " + missing.getMessage());
    }
  }

  /**
   * The JDK's TLS for a client that trusts those in a file, or those of the system.
   *
   * @throws IOException with one sentence, if the file cannot be read
   */
  public static SSLContext context(@Nullable Path file) throws IOException {
    try {
      var trust = new PeerTrust(file == null ? read() : PemFile.certificates(file));
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {trust}, null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IOException("TLS to an authority: " + missing.getMessage(), missing);
    }
  }
}
