package io.kamille.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.tiers.DiskCopies;
import io.kamille.cache.tiers.Store;
import io.kamille.cache.tiers.WarmStart;
import io.kamille.cache.tiers.WorkerThreads;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How the cache of one process takes the place of another's. The disk belongs to one of them; what
 * the one before removes until its end, the other removes too. One thread at a time.
 */
public final class CacheHandover {

  /** The next process waits meanwhile, so perhaps not all that is hot comes to the disk. */
  private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Opens the directory of the disk. */
  @FunctionalInterface
  interface Opening {

    DiskTier open() throws IOException;
  }

  /**
   * The disk tier, for as long as its directory is ours.
   *
   * @param opening opens the directory once more
   * @param copies in the tier that is open
   * @param readers whose threads read it
   */
  record HeldDisk(Opening opening, DiskCopies copies, Executor readers, DiskSettings settings) {}

  private final Store store;
  private final PurgeTable purges;
  private final Removals removals;
  private final @Nullable HeldDisk disk;
  private final WallClock clock;

  @GuardedBy("this")
  private @Nullable WarmStart warmStart;

  @GuardedBy("this")
  private boolean isDiskOurs;

  CacheHandover(
      Store store, PurgeTable purges, Removals removals, @Nullable HeldDisk disk, WallClock clock) {
    this.store = store;
    this.purges = purges;
    this.removals = removals;
    this.disk = disk;
    this.clock = clock;
    this.isDiskOurs = disk != null;
  }

  /** Takes back into memory what the last process was asked for most. */
  synchronized void warm() {
    if (disk != null && disk.settings().keepsMemory()) {
      warmStart = WarmStart.begin(store, disk.copies().disk());
    }
  }

  /**
   * Gives the disk up, if there is one, for another process. Requests go on with what is in memory.
   * Waits for the disk.
   *
   * @param heir told of everything that is removed from now on, by any thread
   */
  public void release(RemovalListener heir) {
    leaveMemory(LEAVE_NANOS);
    store.tell(heir);
    purges.tell(heir::purged);
    releaseDisk();
  }

  /** Leaves what memory holds to the next process, as far as there is time. */
  private synchronized void leaveMemory(long limitNanos) {
    WarmStart begun = warmStart;
    if (begun != null) {
      warmStart = null;
      begun.leave(clock, limitNanos);
    }
  }

  private synchronized void releaseDisk() {
    if (disk != null && isDiskOurs) {
      isDiskOurs = false;
      disk.copies().disk().close();
    }
  }

  /** Ends the threads that read, and gives the directory up. Comes after the last loop. */
  void close() {
    if (disk != null && disk.readers() instanceof WorkerThreads own) {
      own.close();
    }
    leaveMemory(WarmStart.LIMIT_NANOS);
    releaseDisk();
  }

  /**
   * Undoes {@link #release}: the other process is gone. Waits for the disk.
   *
   * @param meanwhile plays to a listener what the heir was told, and all that comes
   * @throws IOException if the directory cannot be had; then there is no disk until a restart
   */
  public void takeBack(Consumer<RemovalListener> meanwhile) throws IOException {
    boolean isBack = false;
    try {
      if (disk != null) {
        takeBack(disk, meanwhile);
        isBack = true;
      }
    } finally {
      store.tell(null);
      if (!isBack) {
        purges.tell(null);
      }
    }
  }

  /** Opens the directory again; what was purged meanwhile is purged here too. */
  private synchronized void takeBack(HeldDisk disk, Consumer<RemovalListener> meanwhile)
      throws IOException {
    DiskTier before = disk.copies().disk();
    DiskTier tier = disk.opening().open();
    if (tier.secretHigh() != before.secretHigh() || tier.secretLow() != before.secretLow()) {
      tier.close();
      throw new IOException("another store has been begun there");
    }
    tier.keepPurges(purges);
    meanwhile.accept(
        new RemovalListener() {
          @Override
          public void removed(CacheKey key) {
            tier.remove(key, 0);
          }

          @Override
          public void purged(PurgeNotes.Note note) {
            removals.follower().purged(note);
          }

          @Override
          public void cleared() {
            tier.clear();
          }
        });
    disk.copies().use(tier);
    isDiskOurs = true;
  }

  /**
   * Tells the process before us what is removed here from now on, as long as it drains; null for
   * nobody. Any thread.
   */
  public void tellElder(@Nullable RemovalListener elder) {
    store.tellElder(elder);
    purges.alsoTell(elder);
  }

  /** What another process removes is removed here. Any thread. */
  public RemovalListener follower() {
    return removals.follower();
  }
}
