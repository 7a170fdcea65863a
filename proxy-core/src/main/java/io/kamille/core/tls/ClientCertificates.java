package io.kamille.core.tls;

import io.netty.handler.ssl.ClientAuth;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * Whether clients present a certificate, and who may have signed it. Immutable; any thread.
 *
 * @param authorities who signs them; empty with {@link Demand#NONE}
 */
public record ClientCertificates(Demand demand, List<X509Certificate> authorities) {

  /** Whether a client is asked for a certificate. */
  public enum Demand {
    NONE(ClientAuth.NONE),
    /** It may have none; one that is not valid ends the handshake. */
    OPTIONAL(ClientAuth.OPTIONAL),
    REQUIRED(ClientAuth.REQUIRE);

    private final ClientAuth mode;

    Demand(ClientAuth mode) {
      this.mode = mode;
    }
  }

  /** Nobody is asked for one. */
  public static final ClientCertificates NONE = new ClientCertificates(Demand.NONE, List.of());

  /**
   * Certificates signed by those in this PEM file.
   *
   * @throws IOException with one sentence: what is wrong with the file
   */
  public static ClientCertificates signedBy(Path authorities, Demand demand) throws IOException {
    return new ClientCertificates(demand, List.copyOf(PemFile.certificates(authorities)));
  }

  ClientAuth mode() {
    return demand.mode;
  }

  /**
   * What tells sessions under this policy from those under another one: no session that was begun
   * under one may be resumed under another.
   */
  byte[] sessionContext() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((byte) demand.ordinal());
      for (X509Certificate authority : authorities) {
        digest.update(authority.getEncoded());
      }
      return digest.digest();
    } catch (GeneralSecurityException broken) {
      throw new IllegalStateException("a certificate that was read can be written", broken);
    }
  }
}
