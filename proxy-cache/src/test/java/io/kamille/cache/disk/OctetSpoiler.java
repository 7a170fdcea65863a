package io.kamille.cache.disk;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** Does to the octets of a file what a disk, or who owns it, may do. Confined to one thread. */
final class OctetSpoiler {

  private static final int[] NUMBERS = {
    -1, 0, 1, 2, 16, 255, 1 << 16, (1 << 24) - 1, 1 << 24, Integer.MAX_VALUE, Integer.MIN_VALUE
  };

  private final SplittableRandom random;

  OctetSpoiler(SplittableRandom random) {
    this.random = random;
  }

  /** Other octets, at least one of them; they may be fewer or more. */
  byte[] spoiled(byte[] octets) {
    byte[] spoiled = octets.clone();
    while (Arrays.equals(spoiled, octets)) {
      for (int i = random.nextInt(3); i >= 0; i--) {
        spoiled = random.nextInt(4) == 0 ? resized(spoiled) : changed(spoiled);
      }
    }
    return spoiled;
  }

  private byte[] resized(byte[] octets) {
    byte[] resized = Arrays.copyOf(octets, random.nextInt(octets.length + 40));
    if (random.nextBoolean()) {
      for (int i = octets.length; i < resized.length; i++) {
        resized[i] = (byte) random.nextInt(256);
      }
    }
    return resized;
  }

  /** The same array with some octets changed where they lie. */
  private byte[] changed(byte[] octets) {
    if (octets.length < Integer.BYTES) {
      return octets;
    }
    int from = random.nextInt(octets.length);
    int to = Math.min(octets.length, from + 1 + random.nextInt(60));
    switch (random.nextInt(5)) {
      case 0 -> octets[from] ^= (byte) (1 << random.nextInt(8));
      case 1 -> octets[from] = (byte) random.nextInt(256);
      case 2 -> Arrays.fill(octets, from, random.nextBoolean() ? to : octets.length, (byte) 0);
      case 3 -> Arrays.fill(octets, from, to, (byte) random.nextInt(256));
      default ->
          ByteBuffer.wrap(octets)
              .putInt(
                  random.nextInt(octets.length - Integer.BYTES + 1),
                  NUMBERS[random.nextInt(NUMBERS.length)]);
    }
    return octets;
  }

  static int checksum(byte[] octets) {
    CRC32C checksum = new CRC32C();
    checksum.update(octets);
    return (int) checksum.getValue();
  }
}
