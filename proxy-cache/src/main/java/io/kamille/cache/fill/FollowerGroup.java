package io.kamille.cache.fill;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.store.StoredOctets;
import io.kamille.core.content.Pieces;
import io.kamille.core.loop.WallClock;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The followers of one flight on one loop. Confined to that loop, but for {@link #wake}. */
final class FollowerGroup implements Runnable {

  private final EventLoop loop;
  private final WallClock clock;
  private final List<Follower> followers = new ArrayList<>();
  private final AtomicBoolean isWoken = new AtomicBoolean();
  private final AtomicReference<@Nullable StoredOctets> kept = new AtomicReference<>();
  private final Queue<SharedChunk> inbox = new ConcurrentLinkedQueue<>();
  private final AtomicReference<@Nullable ContentWindow> window = new AtomicReference<>();
  private final AtomicBoolean isBreakingOffSlow = new AtomicBoolean();
  private boolean isTimed;
  private long timedNanos;

  FollowerGroup(EventLoop loop, WallClock clock) {
    this.loop = loop;
    this.clock = clock;
  }

  EventLoop loop() {
    return loop;
  }

  void add(Follower follower) {
    followers.add(follower);
    if (follower.isTimed()) {
      awaitDeadline(follower.deadlineNanos());
    }
  }

  /**
   * Holds a lease on these octets, of a stage that is published, until the followers have looked at
   * it. Any thread, once, before {@link #wake}.
   */
  void keep(StoredOctets octets) {
    octets.retain();
    kept.set(octets);
  }

  /** Where chunks will come from. Any thread, once, before the first of them. */
  void readFrom(ContentWindow window) {
    this.window.set(window);
  }

  /** Gives a chunk to the followers. Any thread. Takes over one hold. */
  void offer(SharedChunk chunk) {
    inbox.add(chunk);
    wake();
  }

  /** Breaks off the followers that are too slow for the others. Any thread. */
  void breakOffSlow() {
    isBreakingOffSlow.set(true);
    wake();
  }

  /** Makes every follower look at the flight, soon. Any thread; calls before that are one. */
  void wake() {
    if (isWoken.compareAndSet(false, true) && !execute(loop, this)) {
      release(kept.getAndSet(null));
      discard();
    }
  }

  @Override
  public void run() {
    isWoken.set(false);
    StoredOctets leased = kept.getAndSet(null);
    try {
      deliver();
      forEach(Follower::proceed);
      if (isBreakingOffSlow.getAndSet(false)) {
        ContentWindow from = window.get();
        boolean onlyIfStalled = from != null && from.isPatient();
        forEach(follower -> follower.breakOffIfSlow(onlyIfStalled));
      }
      followers.removeIf(Follower::isDone);
    } finally {
      release(leased);
    }
  }

  /**
   * Followers may join meanwhile. A fault in one of them, also for want of memory, is no matter of
   * the others.
   */
  private void forEach(Consumer<Follower> action) {
    for (int i = 0; i < followers.size(); i++) {
      Follower follower = followers.get(i);
      try {
        action.accept(follower);
      } catch (RuntimeException | Error bug) {
        follower.fault(bug);
      }
    }
  }

  /** The end is looked at before the inbox: nothing comes behind it. */
  private void deliver() {
    ContentWindow from = window.get();
    if (from == null) {
      return;
    }
    Pieces.End end = from.end();
    for (SharedChunk next = inbox.poll(); next != null; next = inbox.poll()) {
      SharedChunk chunk = next;
      forEach(follower -> follower.take(chunk));
      chunk.release();
    }
    if (end != null) {
      forEach(follower -> follower.ended(end));
    }
  }

  private void discard() {
    for (SharedChunk next = inbox.poll(); next != null; next = inbox.poll()) {
      next.release();
    }
  }

  private static void release(@Nullable StoredOctets leased) {
    if (leased != null) {
      leased.release();
    }
  }

  /** Those who have waited too long leave. */
  private void expire() {
    isTimed = false;
    long now = clock.nanos();
    forEach(follower -> follower.expire(now));
    followers.removeIf(Follower::isDone);
    for (Follower follower : followers) {
      if (follower.isTimed()) {
        awaitDeadline(follower.deadlineNanos());
      }
    }
  }

  /** Deadlines come nearly in order, so that one timer is nearly always enough. */
  private void awaitDeadline(long deadlineNanos) {
    if (!isTimed || deadlineNanos - timedNanos < 0) {
      isTimed = true;
      timedNanos = deadlineNanos;
      long delay = Math.max(0, deadlineNanos - clock.nanos());
      loop.schedule(this::expire, delay, TimeUnit.NANOSECONDS);
    }
  }

  /** Runs a task on a loop; false if the loop is at its end, and everything on it too. */
  @CanIgnoreReturnValue
  static boolean execute(EventLoop loop, Runnable task) {
    try {
      loop.execute(task);
      return true;
    } catch (RejectedExecutionException atItsEnd) {
      assert loop.isShuttingDown();
      return false;
    }
  }
}
