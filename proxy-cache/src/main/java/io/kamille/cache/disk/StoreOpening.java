package io.kamille.cache.disk;

import java.io.IOException;
import java.util.function.UnaryOperator;

/**
 * How a store in a directory becomes a tier that works, or one that is aside from the beginning.
 */
final class StoreOpening {

  static final int SEGMENT_MINIMUM_BYTES = 1 << 20;

  private static final int SEGMENTS_WANTED = 64;

  /** What lies between a tier that is opened and its files: nothing, but in experiments. */
  private static volatile UnaryOperator<StoreDirectory> layer = UnaryOperator.identity();

  private StoreOpening() {}

  /** Tiers opened from now on use their files through a layer; for experiments with other disks. */
  static void openThrough(UnaryOperator<StoreDirectory> between) {
    layer = between;
  }

  /** A tier that works on a thread of its own. Takes over the directory. */
  static DiskTier open(StoreDirectory files, long capacityBytes, long queueBytes)
      throws IOException {
    DiskTier tier = openOrAside(layer.apply(files), capacityBytes, queueBytes);
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
