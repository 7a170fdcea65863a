package io.kamille.admin.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** Random secrets and what is kept of them. Stateless; any thread. */
final class Secret {

  /*
   * Only a SHA-256 digest is kept. A slow hash protects secrets that people choose; it adds nothing
   * to 128 and more random bits, and costs the server processor time for each wrong guess.
   */
  private static final SecureRandom RANDOM = new SecureRandom();

  private Secret() {}

  /** Random octets, as letters, digits, - and _. */
  static String random(int octets) {
    byte[] drawn = new byte[octets];
    RANDOM.nextBytes(drawn);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(drawn);
  }

  /** The SHA-256 digest, in hexadecimal. */
  static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Whether a secret has this digest, in a time that tells nothing. */
  static boolean matches(String secret, String digest) {
    return MessageDigest.isEqual(
        digest(secret).getBytes(StandardCharsets.US_ASCII),
        digest.getBytes(StandardCharsets.US_ASCII));
  }
}
