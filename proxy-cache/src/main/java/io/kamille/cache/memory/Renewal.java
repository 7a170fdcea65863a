package io.kamille.cache.memory;

import java.lang.System.Logger.Level;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives blocks back to the arena of which sockets may still hold pages, after fresh pages were put
 * in their place.
 *
 * <p>Any thread; the work is done by a thread of its own, since taking out the pages of a large
 * object takes longer than a loop may stand still.
 */
final class Renewal implements AutoCloseable {

  /*
   * Where the kernel refuses, a socket may send those pages in any future, so nobody may write to
   * them again: the block is retired, and no more regions are given out. The arena goes on with
   * that much less; what is lost is bounded by what was sent as regions before.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final long STEP_BYTES = 4 << 20;

  private final Arena arena;
  private final MemoryFile file;
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kamille-arena").daemon().factory());
  private final AtomicLong pendingBytes = new AtomicLong();
  private final AtomicLong retiredBytes = new AtomicLong();

  /** Any thread may see the end a little late: a region more is a block more to retire. */
  private volatile boolean works = true;

  Renewal(Arena arena, MemoryFile file) {
    this.arena = arena;
    this.file = file;
  }

  /** Whether pages that are sent now can be renewed later, as far as anybody knows. */
  boolean works() {
    return works;
  }

  /** What comes free soon. */
  long pendingBytes() {
    return pendingBytes.get();
  }

  /** What never comes free. */
  long retiredBytes() {
    return retiredBytes.get();
  }

  /**
   * Whether {@code block} cannot be given back at once: regions of it may have been given out,
   * since it holds a whole slab. One that grows goes on to.
   */
  boolean wants(long block) {
    return Slab.endIn(block) > Slab.beginIn(block);
  }

  /** Gives {@code block} back, a little later, or retires it. */
  void give(long block) {
    pendingBytes.addAndGet(Block.bytes(block));
    worker.execute(() -> renew(block));
  }

  private void renew(long block) {
    boolean isFresh = false;
    try {
      isFresh = takeOut(block);
    } catch (RuntimeException | Error bug) {
      LOG.log(Level.ERROR, "pages of stored content were not replaced, by a fault of ours", bug);
    }
    try {
      if (isFresh) {
        arena.give(block);
      } else {
        retire(block);
      }
    } finally {
      pendingBytes.addAndGet(-Block.bytes(block));
    }
  }

  private boolean takeOut(long block) {
    long end = Slab.endIn(block);
    for (long from = Slab.beginIn(block); from < end; from += STEP_BYTES) {
      if (!file.renew(from, Math.min(end, from + STEP_BYTES))) {
        return false;
      }
    }
    return true;
  }

  private void retire(long block) {
    retiredBytes.addAndGet(Block.bytes(block));
    if (works) {
      works = false;
      LOG.log(
          Level.ERROR,
          "stored content is sent by copying from now on: the kernel does not replace pages that"
              + " sockets may hold, or has none for cache.memory.prefault; their memory is lost"
              + " until a restart");
    }
  }

  /** Ends when everything pending is done. */
  @Override
  public void close() {
    worker.close();
  }
}
