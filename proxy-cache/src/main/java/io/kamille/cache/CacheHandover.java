package io.kamille.cache;

import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.time.WallClock;
import java.io.IOException;
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

  private final TieredStore store;
  private final PurgeTable purges;
  private final Removals removals;
  private final @Nullable HeldDisk disk;
  private final WallClock clock;

  CacheHandover(
      TieredStore store,
      PurgeTable purges,
      Removals removals,
      @Nullable HeldDisk disk,
      WallClock clock) {
    this.store = store;
    this.purges = purges;
    this.removals = removals;
    this.disk = disk;
    this.clock = clock;
  }

  /**
   * Gives the disk up, if there is one, for another process. Requests go on with what is in memory.
   * Waits for the disk.
   *
   * @param heir told of everything that is removed from now on, by any thread
   */
  public void release(RemovalListener heir) {
    if (disk != null) {
      disk.leaveMemory(store, clock, LEAVE_NANOS);
    }
    store.tell(heir);
    purges.tell(
        new PurgeNotes.Keeper() {
          @Override
          public void noted(PurgeNotes.Note note) {
            heir.purged(note);
          }

          @Override
          public void trimmed(long sequence) {}
        });
    if (disk != null) {
      disk.release();
    }
  }

  /**
   * Undoes {@link #release}: the other process is gone. Waits for the disk.
   *
   * @param meanwhile plays to a listener what the heir was told, and all that comes
   * @throws IOException if the directory cannot be had; then there is no disk until a restart
   */
  public void takeBack(Consumer<RemovalListener> meanwhile) throws IOException {
    if (disk == null) {
      store.tell(null);
      purges.tell(null);
      return;
    }
    boolean isBack = false;
    try {
      disk.takeBack(purges, removals.follower()::purged, meanwhile);
      isBack = true;
    } finally {
      store.tell(null);
      if (!isBack) {
        purges.tell(null);
      }
    }
  }

  /** What the process before us removes is removed here. Any thread. */
  public RemovalListener follower() {
    return removals.follower();
  }
}
