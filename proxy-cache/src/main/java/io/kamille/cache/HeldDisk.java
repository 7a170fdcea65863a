package io.kamille.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.disk.DiskMetrics;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.tiers.DiskCopies;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.cache.tiers.WarmStart;
import io.kamille.cache.tiers.WorkerThreads;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The disk tier of a cache, for as long as its directory is ours. Any thread; whoever gives it away
 * or takes it back waits for the disk.
 */
final class HeldDisk {

  /** Opens the directory. */
  @FunctionalInterface
  interface Opening {

    DiskTier open() throws IOException;
  }

  private final Opening opening;
  private final DiskCopies copies;
  private final Executor readers;
  private final DiskSettings settings;

  @GuardedBy("this")
  private @Nullable WarmStart warmStart;

  @GuardedBy("this")
  private boolean isOurs = true;

  /**
   * A disk that is ours.
   *
   * @param opening opens the directory once more
   * @param copies in the tier that is open
   */
  HeldDisk(Opening opening, DiskCopies copies, Executor readers, DiskSettings settings) {
    this.opening = opening;
    this.copies = copies;
    this.readers = readers;
    this.settings = settings;
  }

  DiskCopies copies() {
    return copies;
  }

  Executor readers() {
    return readers;
  }

  DiskSettings settings() {
    return settings;
  }

  /** Comes before anything is stored. */
  void begin(PurgeTable purges, MetricRegistry registry) {
    copies.disk().keepPurges(purges);
    DiskMetrics.register(copies::disk, registry);
    copies.peak().register(registry);
  }

  /** Takes back into memory what the last process was asked for most. */
  synchronized void warm(TieredStore store) {
    if (settings.keepsMemory()) {
      warmStart = WarmStart.begin(store, copies.disk());
    }
  }

  /** Leaves what memory holds to the next process, as far as there is time. */
  synchronized void leaveMemory(WallClock clock, long limitNanos) {
    WarmStart begun = warmStart;
    if (begun != null) {
      warmStart = null;
      begun.leave(clock, limitNanos);
    }
  }

  /** Gives the directory up. Does nothing if it is not ours. */
  synchronized void release() {
    if (isOurs) {
      isOurs = false;
      copies.disk().close();
    }
  }

  /**
   * Opens the directory again.
   *
   * @param purges those that hold
   * @param repurge makes a purge once more, which the directory does not know
   * @param removals plays what was removed since {@link #release}, and all that comes
   * @throws IOException if it cannot be had; then there is no disk until a restart
   */
  synchronized void takeBack(
      PurgeTable purges, Consumer<PurgeNotes.Note> repurge, Consumer<RemovalListener> removals)
      throws IOException {
    DiskTier before = copies.disk();
    DiskTier tier = opening.open();
    if (tier.secretHigh() != before.secretHigh() || tier.secretLow() != before.secretLow()) {
      tier.close();
      throw new IOException("another store has been begun there");
    }
    tier.keepPurges(purges);
    removals.accept(
        new RemovalListener() {
          @Override
          public void removed(CacheKey key) {
            tier.remove(key, 0);
          }

          @Override
          public void purged(PurgeNotes.Note note) {
            repurge.accept(note);
          }

          @Override
          public void cleared() {
            tier.clear();
          }
        });
    copies.use(tier);
    isOurs = true;
  }

  /** Ends the threads that read, and gives the directory up. Comes after the last loop. */
  void close(WallClock clock) {
    if (readers instanceof WorkerThreads own) {
      own.close();
    }
    leaveMemory(clock, WarmStart.LIMIT_NANOS);
    release();
  }
}
