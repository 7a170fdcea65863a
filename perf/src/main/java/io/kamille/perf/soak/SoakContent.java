package io.kamille.perf.soak;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Content that origin and client make alike from a subject, a variant and a version; without end,
 * an answer has the beginning of it. Any thread.
 */
final class SoakContent {

  /*
   * One block read round and round. Its length is a prime, so that a server that mixes up buffers
   * does not find the same octets a whole turn away.
   */

  private static final int BLOCK_LENGTH = 1_000_003;
  private static final byte[] OCTETS = octets();
  private static final byte[] TEXT = text();
  private static final int LETTERS = 16;

  private final byte[] block;
  private final int start;

  private SoakContent(byte[] block, int start) {
    this.block = block;
    this.start = start;
  }

  static SoakContent of(Subject subject, int variant, long version) {
    long seed = subject.seed() ^ Long.rotateLeft(version * 31 + variant, 40);
    int start = new SplittableRandom(seed).nextInt(BLOCK_LENGTH);
    return new SoakContent(subject.family() == Family.TEXT ? TEXT : OCTETS, start);
  }

  /** Writes {@code count} octets from {@code position} on. */
  void write(OutputStream out, int position, int count) throws IOException {
    int written = 0;
    while (written < count) {
      int place = place(position + written);
      int length = Math.min(count - written, BLOCK_LENGTH - place);
      out.write(block, place, length);
      written += length;
    }
  }

  /** Whether these octets stand here from {@code position} on. */
  boolean matches(int position, byte[] octets, int from, int count) {
    int compared = 0;
    while (compared < count) {
      int place = place(position + compared);
      int length = Math.min(count - compared, BLOCK_LENGTH - place);
      int at = from + compared;
      if (!Arrays.equals(block, place, place + length, octets, at, at + length)) {
        return false;
      }
      compared += length;
    }
    return true;
  }

  private int place(int position) {
    return (int) (((long) start + position) % BLOCK_LENGTH);
  }

  private static byte[] octets() {
    byte[] octets = new byte[BLOCK_LENGTH];
    new SplittableRandom(BLOCK_LENGTH).nextBytes(octets);
    return octets;
  }

  private static byte[] text() {
    byte[] text = octets();
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) ('a' + (text[i] & (LETTERS - 1)));
    }
    return text;
  }
}
