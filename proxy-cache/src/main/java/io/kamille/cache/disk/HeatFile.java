package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The keys that a process asked for most, in a file that it writes as it stops. Stateless. */
final class HeatFile {

  /*
   *   ┌──────┬───────┬───────┬─────────┐
   *   │ mark │ store │ count │ CRC-32C │  and for each key, hottest first, its two halves
   *   └──────┴───────┴───────┴─────────┘
   *   0      8       16      20        24
   *
   * The checksum is of everything else. A file that is not right is none.
   */
  static final String NAME = "heat";

  /** How many keys are remembered, at 16 octets each. */
  static final int LIMIT = 1 << 18;

  private static final long MARK = 0x4b414d494c4c4548L; // KAMILLEH
  private static final int CHECKSUM_AT = 20;
  private static final int HEADER_LENGTH = 24;
  private static final int KEY_LENGTH = 2 * Long.BYTES;

  private HeatFile() {}

  /** Writes the first {@value #LIMIT} keys in place of those of before. */
  static void write(StoreDirectory directory, long store, List<CacheKey> hottestFirst)
      throws IOException {
    List<CacheKey> keys = hottestFirst.subList(0, Math.min(LIMIT, hottestFirst.size()));
    ByteBuffer octets = ByteBuffer.allocate(HEADER_LENGTH + keys.size() * KEY_LENGTH);
    octets.putLong(MARK).putLong(store).putInt(keys.size()).position(HEADER_LENGTH);
    keys.forEach(key -> octets.putLong(key.high()).putLong(key.low()));
    octets.putInt(CHECKSUM_AT, checksum(octets)).flip();
    directory.delete(NAME);
    try (StoreFile file = directory.create(NAME)) {
      file.writeFully(octets, 0);
    }
  }

  /** The keys that are there, hottest first; none if the file is not right. */
  static List<CacheKey> read(StoreDirectory directory, long store) throws IOException {
    if (!directory.names().contains(NAME)) {
      return List.of();
    }
    ByteBuffer octets;
    try (StoreFile file = directory.open(NAME)) {
      long limit = HEADER_LENGTH + (long) LIMIT * KEY_LENGTH;
      octets = ByteBuffer.allocate((int) Math.min(file.length(), limit));
      file.readFully(octets, 0);
    } catch (EOFException e) {
      return List.of();
    }
    octets.flip();
    return isRight(octets, store) ? keys(octets) : List.of();
  }

  private static boolean isRight(ByteBuffer octets, long store) {
    return octets.remaining() >= HEADER_LENGTH
        && octets.getLong(0) == MARK
        && octets.getLong(8) == store
        && octets.getInt(16) == (octets.remaining() - HEADER_LENGTH) / KEY_LENGTH
        && octets.getInt(CHECKSUM_AT) == checksum(octets);
  }

  private static List<CacheKey> keys(ByteBuffer octets) {
    List<CacheKey> keys = new ArrayList<>();
    octets.position(HEADER_LENGTH);
    while (octets.remaining() >= KEY_LENGTH) {
      keys.add(CacheKey.of(octets.getLong(), octets.getLong()));
    }
    return keys;
  }

  private static int checksum(ByteBuffer octets) {
    return Checksum.of(
        octets.slice(0, CHECKSUM_AT),
        octets.slice(HEADER_LENGTH, octets.capacity() - HEADER_LENGTH));
  }
}
