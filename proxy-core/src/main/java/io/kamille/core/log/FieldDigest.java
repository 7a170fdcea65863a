package io.kamille.core.log;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Stands for a value that nobody may read: equal values have equal digests, and nothing else can be
 * learnt, not even by guessing. HMAC-SHA256 (RFC 2104). Confined to its loop.
 */
final class FieldDigest {

  private static final String ALGORITHM = "HmacSHA256";
  private static final int SHOWN_BYTES = 8;

  private final Mac mac;

  FieldDigest(SecretKeySpec key) {
    try {
      mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, impossible);
    }
  }

  /** A key that nobody knows. */
  static SecretKeySpec newKey() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    return new SecretKeySpec(key, ALGORITHM);
  }

  /** Puts sixteen hexadecimal digits in place of a value. */
  void replace(LineBuffer value) {
    mac.update(value.octets(), 0, value.length());
    byte[] digest = mac.doFinal();
    value.clear().ascii("digest:");
    for (int i = 0; i < SHOWN_BYTES; i++) {
      value.hex(digest[i], 2);
    }
  }
}
