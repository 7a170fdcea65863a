package io.kamille.cluster.secret;

import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** The secret of all nodes, and the keys that each makes of it alike. Immutable; any thread. */
public final class ClusterSecret {

  /*
   * HKDF (RFC 5869) with SHA-256 makes a key for each purpose. One says nothing of another, nor of
   * the secret.
   *
   * AES-256-GCM seals a value of the log for its name, under a random nonce of 96 bits. Values are
   * far fewer than the 2^32 at which two nonces may be the same.
   */
  private static final String KDF_NAME = "HKDF-SHA256";
  public static final int MOST_OCTETS = 64 * 1024;
  private static final int KEY_OCTETS = 32;
  private static final int NONCE_OCTETS = 12;
  private static final int TAG_BITS = 128;

  private final SecretKey secret;
  private final SecretKey sealing;
  private final SecureRandom random = new SecureRandom();

  private ClusterSecret(byte[] content) throws GeneralSecurityException {
    secret =
        KDF.getInstance(KDF_NAME)
            .deriveKey("Generic", HKDFParameterSpec.ofExtract().addIKM(content).extractOnly());
    sealing = new SecretKeySpec(key("values in the log", KEY_OCTETS), "AES");
  }

  /**
   * The secret of this file.
   *
   * @throws IOException with one sentence, if it cannot be used
   */
  public static ClusterSecret read(Path file) throws IOException {
    try {
      return new ClusterSecret(SmallFile.read(file, MOST_OCTETS));
    } catch (IOException unusable) {
      throw new IOException("cluster.secret-file: " + Problems.reason(unusable), unusable);
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("HKDF comes with every JDK", missing);
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

  /** What only those can read, and make, who know the secret. */
  byte[] seal(String name, byte[] content) {
    byte[] nonce = new byte[NONCE_OCTETS];
    random.nextBytes(nonce);
    try {
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, name, nonce).doFinal(content);
      return ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed).array();
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("AES-GCM comes with every JDK", missing);
    }
  }

  /** What was sealed for that name; null if it was not, or not by this secret. */
  byte @Nullable [] open(String name, byte[] sealed) {
    if (sealed.length < NONCE_OCTETS) {
      return null;
    }
    try {
      return cipher(Cipher.DECRYPT_MODE, name, Arrays.copyOf(sealed, NONCE_OCTETS))
          .doFinal(sealed, NONCE_OCTETS, sealed.length - NONCE_OCTETS);
    } catch (GeneralSecurityException another) {
      return null;
    }
  }

  private Cipher cipher(int mode, String name, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, sealing, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(name.getBytes(StandardCharsets.UTF_8));
    return cipher;
  }
}
