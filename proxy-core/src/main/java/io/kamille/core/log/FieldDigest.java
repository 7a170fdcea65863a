package io.kamille.core.log;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Stands for a value that nobody may read: equal values have equal digests, and nothing else can be
 * learnt, not even by guessing. HMAC-SHA256 (RFC 2104) by a key of its own. Confined to the writer.
 */
final class FieldDigest {

  private static final String ALGORITHM = "HmacSHA256";
  private static final int SHOWN_BYTES = 8;

  private final Mac mac;

  FieldDigest() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    try {
      mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, impossible);
    }
  }

  /** Sixteen hexadecimal digits. */
  String of(byte[] octets, int start, int end) {
    mac.update(octets, start, end - start);
    return "digest:" + HexFormat.of().formatHex(mac.doFinal(), 0, SHOWN_BYTES);
  }
}
