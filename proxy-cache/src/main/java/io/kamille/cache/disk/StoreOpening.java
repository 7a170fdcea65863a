package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.file.Path;

/**
 * How a store in a directory becomes a tier that works, or one that is aside from the beginning.
 */
public final class StoreOpening {

  private static final int SEGMENT_MINIMUM_BYTES = 1 << 20;

  /** The least capacity of a store, in octets. */
  public static final long CAPACITY_MINIMUM_BYTES = 4L * SEGMENT_MINIMUM_BYTES;

  private static final int SEGMENTS_WANTED = 64;

  private StoreOpening() {}

  /**
   * Opens the store in that directory, or makes one. What is there is found little by little. If
   * what is there cannot be read, or nothing can be written, the tier is aside from the beginning.
   *
   * @param disk where the directory lies
   * @param capacityBytes what the files may take, at least {@link #CAPACITY_MINIMUM_BYTES}
   * @param queueBytes how many octets of responses may wait in memory to be written
   * @throws IOException if the directory cannot be had: it is none and cannot be made, is somebody
   *     else's, or is used by another process
   */
  public static DiskTier open(Disk disk, Path path, long capacityBytes, long queueBytes)
      throws IOException {
    if (capacityBytes < CAPACITY_MINIMUM_BYTES) {
      throw new IllegalArgumentException(
          "capacityBytes: " + capacityBytes + " (expected: >= " + CAPACITY_MINIMUM_BYTES + ")");
    }
    StoreDirectory directory = disk.open(path);
    DiskTier tier = openOrAside(directory, capacityBytes, queueBytes);
    tier.start();
    return tier;
  }

  private static DiskTier openOrAside(
      StoreDirectory directory, long capacityBytes, long queueBytes) {
    int segmentBytes = segmentBytes(capacityBytes);
    try {
      boolean isOpen = false;
      try {
        DiskTier tier = new DiskTier(directory, capacityBytes, segmentBytes, queueBytes);
        isOpen = true;
        return tier;
      } finally {
        if (!isOpen) {
          giveUp(directory);
        }
      }
    } catch (IOException e) {
      return aside(capacityBytes, segmentBytes, e);
    }
  }

  /** What is removed from now on is not known there: nobody is to take it for a store. */
  private static void giveUp(StoreDirectory directory) throws IOException {
    try (directory) {
      directory.delete(StoreIdentity.NAME);
    }
  }

  private static DiskTier aside(long capacityBytes, int segmentBytes, IOException why) {
    try {
      DiskTier tier =
          new DiskTier(
              NoDirectory.INSTANCE, StoreIdentity.random(), capacityBytes, segmentBytes, 0);
      tier.stepAside(why);
      return tier;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int segmentBytes(long capacityBytes) {
    return Math.clamp(
        capacityBytes / SEGMENTS_WANTED & -Extent.UNIT_BYTES,
        SEGMENT_MINIMUM_BYTES,
        Extent.SEGMENT_BYTES_LIMIT);
  }
}
