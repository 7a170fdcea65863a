package io.kamille.cache.tiers;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.loop.WallClock;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What memory held and was asked for, passed over the disk from a process that stops to the next
 * one: left by the first, taken in again by the other, hottest first.
 */
public final class WarmStart implements AutoCloseable {

  /*
   * A process that stops has what is not on the disk yet written, as far as the time allows, and
   * remembers in which order it was asked for. The next one takes it in on a thread of its own
   * beside requests. Memory is not filled to the brim: nothing that this process was asked for
   * makes room for what the last one was.
   */

  /** How long a stop is held up to write what is not on the disk yet. */
  public static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final int FULL_TENTHS = 9;
  private static final long ROOM_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long RECOVERY_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long END_SECONDS = 60;

  private final Store store;
  private final DiskTier disk;
  private final long limitBytes;
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Asks the thread to end. */
  private volatile boolean isClosing;

  private WarmStart(Store store, DiskTier disk) {
    this.store = store;
    this.disk = disk;
    this.limitBytes = Store.indexCapacityBytes(store.capacityBytes()) / 10 * FULL_TENTHS;
  }

  /** Begins to take it in; that ends by itself when nothing is left or memory is full. */
  public static WarmStart begin(Store store, DiskTier disk) {
    WarmStart start = new WarmStart(store, disk);
    Thread.ofPlatform().name("kamille-disk-warm").daemon().start(start::run);
    return start;
  }

  private void run() {
    try {
      for (CacheKey key : disk.heat()) {
        awaitRecovery();
        if (isClosing || store.usedBytes() >= limitBytes) {
          return;
        }
        if (store.peek(key) == null) {
          take(key);
        }
      }
    } finally {
      ended.countDown();
    }
  }

  /** What is on the disk is found little by little. */
  private void awaitRecovery() {
    while (!isClosing && disk.isRunning() && !disk.isRecovered()) {
      LockSupport.parkNanos(this, RECOVERY_LOOK_NANOS);
    }
  }

  private void take(CacheKey key) {
    long changes = store.changes(key);
    for (Extent extent : disk.find(key)) {
      StoredResponse taken =
          new Promotion(store, key, changes, 0, this::hasRoomFor).from(disk, extent);
      if (taken != null) {
        taken.release();
      }
    }
  }

  private boolean hasRoomFor(StoredHead head, int contentLength) {
    return store.usedBytes() + head.encoded().length() + contentLength < limitBytes;
  }

  /**
   * Ends the taking in, and waits for that, which is soon. Any thread.
   *
   * @throws IllegalStateException if the disk does not answer
   */
  @Override
  public void close() {
    isClosing = true;
    try {
      if (!ended.await(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("warming memory (expected: ended)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private record Member(CacheKey key, StoredResponse response, int hits) {}

  /**
   * Leaves what memory holds and was asked for to the next process. Ends the taking in, if that
   * goes on.
   */
  public void leave(WallClock clock, long limitNanos) {
    close();
    long deadlineNanos = clock.nanos() + limitNanos;
    List<Member> members = new ArrayList<>();
    long now = clock.epochSeconds();
    store.forEach(
        (key, variants) ->
            variants.forEach(
                response -> {
                  if (isOfUse(response, now)) {
                    members.add(new Member(key, response, response.hits()));
                  }
                }));
    members.sort(Comparator.comparingInt(Member::hits).reversed());
    Set<CacheKey> keys = new LinkedHashSet<>();
    boolean isTime = true;
    int late = 0;
    for (Member member : members) {
      isTime = isTime && write(member, clock, deadlineNanos);
      if (member.response.isCopied()) {
        keys.add(member.key);
      } else if (!isTime) {
        late++;
      }
    }
    if (late > 0) {
      LOG.log(
          Level.INFO,
          "the disk did not take {0} responses of memory in time: the next process asks the origin",
          Integer.toString(late));
    }
    disk.keepHeat(List.copyOf(keys));
  }

  private static boolean isOfUse(StoredResponse response, long nowEpochSeconds) {
    return (response.facts().isFresh(nowEpochSeconds) || response.facts().hasValidator())
        && (response.isCopied() || response.hits() > 0);
  }

  /** Waits for room in the queue; false if there is no time left. */
  private boolean write(Member member, WallClock clock, long deadlineNanos) {
    while (!offer(member)) {
      if (!disk.isRunning() || clock.nanos() - deadlineNanos >= 0) {
        return false;
      }
      LockSupport.parkNanos(this, ROOM_LOOK_NANOS);
    }
    return true;
  }

  /** Whether nothing more is to be done for it. */
  private boolean offer(Member member) {
    StoredResponse response = member.response;
    if (!response.tryRetain()) {
      return true;
    }
    try {
      return store.copy(member.key, response);
    } finally {
      response.release();
    }
  }
}
