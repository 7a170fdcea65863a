package io.kamille.cache.memory;

import io.netty.buffer.ByteBuf;

/**
 * Appends content to the arena as it arrives; whoever holds a lease reads along.
 *
 * <p>Confined to one thread at a time. Owns one lease on {@link #bytes()} until {@link #commit()}
 * hands it to the caller or {@link #abandon()} ends it; one of the two must be called.
 */
public final class ArenaWriter {

  /*
   * Content of unknown length takes memory in steps that double from 4 to 64 KiB, at first behind
   * its last block, in place, so that most of it ends up in one block. When a whole step cannot be
   * had, what the append needs may still be.
   */

  private static final long STEP_MINIMUM_GRANULES = 4096 / Block.GRANULE_BYTES;
  private static final long STEP_MAXIMUM_GRANULES = Slab.GRANULES;

  private final Arena arena;
  private final int home;
  private final StoredBytes bytes;

  private long granules;
  private long length;
  private boolean isOpen = true;

  /** The block that holds the end of what is written, and the position where it begins. */
  private int blockIndex;

  private long blockPosition;

  /** Takes over {@code granules} reserved in the arena. */
  ArenaWriter(Arena arena, int home, long granules) {
    this.arena = arena;
    this.home = home;
    this.bytes = new StoredBytes(arena);
    this.granules = granules;
    arena.ledger().countWriting(granules);
    arena.collect(bytes, granules, home);
  }

  /** What has been written so far, for readers to take leases on. The writer keeps its own. */
  public StoredBytes bytes() {
    return bytes;
  }

  /** How many octets have been appended. */
  public long length() {
    return length;
  }

  /**
   * Appends the readable octets of {@code content}, which it borrows until it returns and whose
   * indices stay. They can be read at once.
   *
   * @return false if there is not enough free memory; then nothing was appended
   * @throws IllegalStateException after commit or abandon
   */
  public boolean append(ByteBuf content) {
    checkOpen();
    int count = content.readableBytes();
    long missing = Block.granulesFor(length + count) - granules;
    if (missing > 0 && !grow(missing)) {
      return false;
    }
    write(content, count);
    length += count;
    bytes.publish(length);
    return true;
  }

  /**
   * Gives back what was taken and not needed, and hands the writer's lease to the caller.
   *
   * @throws IllegalStateException after commit or abandon
   */
  public StoredBytes commit() {
    finish();
    return bytes;
  }

  /**
   * Ends the writer's lease. Readers keep what was published until theirs end.
   *
   * @throws IllegalStateException after commit or abandon
   */
  public void abandon() {
    finish();
    bytes.release();
  }

  private boolean grow(long missing) {
    long step = Math.clamp(granules, STEP_MINIMUM_GRANULES, STEP_MAXIMUM_GRANULES);
    long taken = Math.max(missing, step);
    if (!arena.reserve(taken)) {
      taken = missing;
      if (!arena.reserve(taken)) {
        return false;
      }
    }
    arena.ledger().countWriting(taken);
    arena.collect(bytes, taken, home);
    granules += taken;
    return true;
  }

  private void write(ByteBuf content, int count) {
    int index = content.readerIndex();
    int end = index + count;
    long position = length;
    while (index < end) {
      long block = bytes.block(blockIndex);
      long within = position - blockPosition;
      int fits = (int) Math.min(end - index, Block.bytes(block) - within);
      if (fits == 0) {
        blockPosition += Block.bytes(block);
        blockIndex++;
        continue;
      }
      arena.write(content, index, Block.offset(block) + within, fits);
      index += fits;
      position += fits;
    }
  }

  private void finish() {
    checkOpen();
    isOpen = false;
    arena.ledger().countWriting(-granules);
    bytes.trim(Block.granulesFor(length), arena);
  }

  private void checkOpen() {
    if (!isOpen) {
      throw new IllegalStateException("writer: finished (expected: open)");
    }
  }
}
