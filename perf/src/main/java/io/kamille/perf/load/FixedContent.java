package io.kamille.perf.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** Content that every program of a comparison makes alike: its length decides every octet. */
public final class FixedContent {

  private static final int SEED = 0x4b616d69;
  private static final int WORDS = 300;

  private FixedContent() {}

  /** The octets of content of that length. */
  public static byte[] octets(int length) {
    byte[] octets = new byte[length];
    new SplittableRandom(SEED + length).nextBytes(octets);
    return octets;
  }

  /** Text of that length, of words that come again, so that it shrinks as pages do. */
  public static byte[] text(int length) {
    var random = new SplittableRandom(SEED + length);
    String[] words = new String[WORDS];
    Arrays.setAll(words, i -> word(random));
    var text = new StringBuilder(length + 16);
    while (text.length() < length) {
      text.append(words[random.nextInt(1 + random.nextInt(WORDS))]);
      text.append(random.nextInt(12) == 0 ? ".\n" : " ");
    }
    return text.substring(0, length).getBytes(StandardCharsets.US_ASCII);
  }

  private static String word(SplittableRandom random) {
    var word = new StringBuilder();
    for (int letters = 2 + random.nextInt(9); letters > 0; letters--) {
      word.append((char) ('a' + random.nextInt(26)));
    }
    return word.toString();
  }

  /** The content outside the heap, so that writing it copies nothing. The caller owns it. */
  static ByteBuf direct(int length) {
    return Unpooled.directBuffer(length).writeBytes(octets(length));
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
