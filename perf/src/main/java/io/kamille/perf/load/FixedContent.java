package io.kamille.perf.load;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** Content that every program of a comparison makes alike: its length decides every octet. */
public final class FixedContent {

  private static final int SEED = 0x4b616d69;

  private FixedContent() {}

  /** The octets of content of that length. */
  public static byte[] octets(int length) {
    byte[] octets = new byte[length];
    new SplittableRandom(SEED + length).nextBytes(octets);
    return octets;
  }

  /** The SHA-256 of some octets, in hexadecimal digits. */
  public static String hash(byte[] octets) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(octets));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
