package io.kamille.cluster.secret;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/** The secret of all nodes, and the keys that each makes of it alike. Immutable; any thread. */
public final class ClusterSecret {

  /*
   * HKDF (RFC 5869) with SHA-256 makes a key for each purpose. One says nothing of another, nor of
   * the secret.
   */
  private static final String KDF_NAME = "HKDF-SHA256";

  private final SecretKey secret;

  private ClusterSecret(byte[] content) throws GeneralSecurityException {
    secret =
        KDF.getInstance(KDF_NAME)
            .deriveKey("Generic", HKDFParameterSpec.ofExtract().addIKM(content).extractOnly());
  }

  /**
   * The secret of this file.
   *
   * @throws IOException with one sentence, if it cannot be used
   */
  public static ClusterSecret read(Path file) throws IOException {
    try {
      return new ClusterSecret(Files.readAllBytes(file));
    } catch (IOException | GeneralSecurityException unusable) {
      throw new IOException("cluster.secret-file: " + unusable.getMessage(), unusable);
    }
  }

  /** The key for that purpose, the same at each node. */
  public byte[] key(String purpose, int octets) {
    try {
      byte[] info = purpose.getBytes(StandardCharsets.UTF_8);
      return KDF.getInstance(KDF_NAME)
          .deriveData(HKDFParameterSpec.expandOnly(secret, info, octets));
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("HKDF comes with every JDK", missing);
    }
  }
}
