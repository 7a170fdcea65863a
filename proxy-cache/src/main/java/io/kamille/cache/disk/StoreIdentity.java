package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * What makes the records of a store mean something: the secret that its cache keys are hashed with,
 * and the number that all its segments bear. Immutable.
 *
 * @param secretHigh first half of the secret
 * @param secretLow second half of the secret
 * @param store the number of the store; random, and told to nobody
 */
record StoreIdentity(long secretHigh, long secretLow, long store) {

  /*
   * A file of its own, readable by its owner only:
   *
   *   ┌───────────┬─────────────┬────────────┬───────┬──────────┐
   *   │ mark      │ secret high │ secret low │ store │ CRC-32C  │
   *   └───────────┴─────────────┴────────────┴───────┴──────────┘
   *   0           8             16           24      32         36
   *
   * Whoever deletes it gives the store up: segments of another store are no segments.
   */
  static final String NAME = "identity";

  private static final long MARK = 0x4b414d494c4c4531L; // KAMILLE1
  private static final int CHECKED = 32;
  private static final int LENGTH = CHECKED + Integer.BYTES;

  /** The identity in this directory, or a new one, still to be written, if none is whole. */
  static StoreIdentity readOrRandom(StoreDirectory directory) throws IOException {
    StoreIdentity identity = directory.names().contains(NAME) ? read(directory) : null;
    return identity == null ? random() : identity;
  }

  private static @Nullable StoreIdentity read(StoreDirectory directory) throws IOException {
    ByteBuffer octets = ByteBuffer.allocate(LENGTH);
    try (StoreFile file = directory.open(NAME)) {
      file.readFully(octets, 0);
    } catch (IOException e) {
      return null;
    }
    return octets.getLong(0) == MARK
            && octets.getInt(CHECKED) == Checksum.of(octets.slice(0, CHECKED))
        ? new StoreIdentity(octets.getLong(8), octets.getLong(16), octets.getLong(24))
        : null;
  }

  /** An identity that nobody has had. */
  static StoreIdentity random() {
    SecureRandom random = new SecureRandom();
    return new StoreIdentity(random.nextLong(), random.nextLong(), random.nextLong());
  }

  /** Writes it, unless the directory has it. */
  void write(StoreDirectory directory) throws IOException {
    if (directory.names().contains(NAME)) {
      if (equals(read(directory))) {
        return;
      }
      directory.delete(NAME);
    }
    ByteBuffer octets = ByteBuffer.allocate(LENGTH);
    octets.putLong(MARK).putLong(secretHigh).putLong(secretLow).putLong(store);
    octets.putInt(Checksum.of(octets.slice(0, CHECKED))).flip();
    try (StoreFile file = directory.create(NAME)) {
      file.writeFully(octets, 0);
      file.force();
    }
  }

  @Override
  public String toString() {
    return "StoreIdentity";
  }
}
