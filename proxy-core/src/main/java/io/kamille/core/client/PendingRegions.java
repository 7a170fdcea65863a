package io.kamille.core.client;

import io.netty.channel.FileRegion;
import java.util.ArrayDeque;

/** The regions of files in a channel's queue, which leave it in order. Confined to its loop. */
final class PendingRegions {

  private final ArrayDeque<FileRegion> regions = new ArrayDeque<>(2);
  private long bytes;

  /** Notes one that is about to be queued; it stays the channel's. */
  void add(FileRegion region) {
    regions.addLast(region);
    bytes += region.count();
  }

  /** Forgets the oldest, and says how much of it was never sent. */
  long remove() {
    FileRegion region = regions.removeFirst();
    bytes -= region.count();
    return region.count() - region.transferred();
  }

  boolean isEmpty() {
    return regions.isEmpty();
  }

  /** What the regions hold, sent or not. */
  long bytes() {
    return bytes;
  }

  /** What of it the kernel has not taken. */
  long unsentBytes() {
    FileRegion oldest = regions.peekFirst();
    return oldest == null ? 0 : bytes - oldest.transferred();
  }
}
