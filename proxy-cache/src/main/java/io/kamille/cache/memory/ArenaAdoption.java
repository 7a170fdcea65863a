package io.kamille.cache.memory;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Takes over the memory of an arena that another process has granted. Everything said of it is
 * checked, and until {@link #finish} nothing is written to it. One thread.
 */
public final class ArenaAdoption implements AutoCloseable {

  /*
   * Three kinds of granules: those of stored octets, which are claimed one after another; those
   * that are granted; and all others, in which the process before us, or one before it, may still
   * write or from which its sockets may send. The first kind, when it comes free, and the third
   * wait until those processes are gone. Then their pages are renewed, because sockets outlive
   * processes.
   */
  private final Arena arena;
  private final MemoryFile file;
  private long claimedGranules;
  private @Nullable Arena abandoned;

  private ArenaAdoption(Arena arena, MemoryFile file) {
    this.arena = arena;
    this.file = file;
    abandoned = arena;
  }

  /**
   * Opens the memory.
   *
   * @param descriptor of its file, borrowed
   * @param capacityBytes that it must have
   * @param generation {@link ArenaGrant#generation}
   * @throws IOException if it is not such a file
   */
  public static ArenaAdoption open(int descriptor, long capacityBytes, long generation)
      throws IOException {
    long bytes = capacityBytes / Slab.BYTES * Slab.BYTES;
    if (generation < 1 || generation >= Long.MAX_VALUE) {
      throw new IOException("generation: " + generation);
    }
    var life = java.lang.foreign.Arena.ofShared();
    try {
      MemoryFile file = MemoryFile.adopt(descriptor, generation, life);
      try {
        long found = file.memory().byteSize();
        if (found != bytes) {
          throw new IOException("its memory has " + found + " octets, and not " + bytes);
        }
        return new ArenaAdoption(Arena.adopt(file, life), file);
      } catch (Throwable failed) {
        file.close();
        throw failed;
      }
    } catch (Throwable failed) {
      life.close();
      throw failed;
    }
  }

  /**
   * Octets that lie in those blocks.
   *
   * @return with one lease, the caller's
   * @throws IllegalArgumentException if they do not fit there, or something else lies there
   */
  public StoredBytes claim(long[] blocks, long length, int hits) {
    long granules = 0;
    for (long block : blocks) {
      take(block);
      granules += Block.granules(block);
    }
    if (length < 0 || hits < 0 || granules != Block.granulesFor(length)) {
      throw new IllegalArgumentException(
          "length: " + length + " (expected: that of " + granules + " granules)");
    }
    claimedGranules += granules;
    return new StoredBytes(arena, blocks, length, hits);
  }

  private void take(long block) {
    if (!arena.shards().takeExactly(block)) {
      throw new IllegalArgumentException(
          "block: " + Long.toHexString(block) + " (expected: one that nothing else lies in)");
    }
  }

  /**
   * Begins to use the memory.
   *
   * @param freeBlocks what is granted
   * @return the arena, which is the caller's to close
   * @throws IllegalArgumentException if something lies there
   */
  public Arena finish(long[] freeBlocks) {
    long granted = 0;
    for (long block : freeBlocks) {
      take(block);
      granted += Block.granules(block);
    }
    Renewal renewal = arena.renewal();
    renewal.holdUntil(file::isLast);
    long capacity = arena.capacityBytes() / Block.GRANULE_BYTES;
    for (long block : ArenaGrant.collect(arena, capacity - claimedGranules - granted)) {
      renewal.give(block);
    }
    for (long block : freeBlocks) {
      arena.give(block);
    }
    abandoned = null;
    return arena;
  }

  /** Lets go of the memory, unless it is used. Whatever was claimed is gone. */
  @Override
  public void close() {
    if (abandoned != null) {
      abandoned.abandon();
      abandoned = null;
    }
  }
}
