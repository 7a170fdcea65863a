package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A request of one client, the leader, that was forwarded and that others, the followers, wait for
 * (RFC 9111 §4). It belongs to one variant of a key as soon as it is known which request fields
 * select (§4.1).
 *
 * <p>The leader's methods are called on the leader's loop; followers join from any loop.
 */
public final class InFlight {

  /*
   * Followers are kept per loop, so that news costs one task per loop and not one per follower, and
   * every follower is touched by its own loop only. The leader publishes a stage, then wakes the
   * groups it sees; a follower puts its group in place, then looks at the stage. With both
   * variables volatile, one of the two sees the other, and nobody sleeps through the news.
   *
   * Before a stage that ends the flight is published, the flight leaves the table: who asks again
   * meets either the result in the store or a new flight, never this one.
   *
   * A lease for every group lasts from the end of the fill until the group has looked at it:
   * whoever looks meanwhile finds the octets, even if the store has forgotten them at once.
   *
   * Whether anybody follows, and whether anybody may begin to, is one number: a leader that leaves
   * ends the flight only if it can close that number at zero, so nobody begins in that moment.
   *
   * A fill that cannot be stored to its end goes on for those who have begun, in a window. Those
   * are in groups that were in place before the stage was Filling no more, so the groups seen right
   * after that are all that count.
   */
  private static final FollowerGroup[] NONE = {};

  /** Less than any lease. */
  private static final long YOUNG_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Instead of how many follow: nobody does, nor will. */
  private static final int CLOSED = Integer.MIN_VALUE;

  private final InFlightTable table;
  private final CacheKey key;
  private final EventLoop loop;
  private final WallClock clock;
  private final long begunAfter;
  private final long begunNanos;
  private final boolean isCutOff;
  private final AtomicReference<Stage> stage = new AtomicReference<>(new Stage.Waiting());
  private final AtomicReference<FollowerGroup[]> groups = new AtomicReference<>(NONE);
  private final AtomicInteger followers = new AtomicInteger();
  // Volatile: set by the leader once, read by those who come.
  private volatile @Nullable SelectingFields expected;
  private volatile boolean isLate;
  private Runnable deserted = () -> {};
  private @Nullable RequestHead leading;

  /**
   * A flight whose leader is on {@code loop}.
   *
   * @param expected the selecting fields of what will come, with their values; null if nothing
   *     tells of them
   */
  InFlight(
      InFlightTable table,
      CacheKey key,
      @Nullable SelectingFields expected,
      EventLoop loop,
      WallClock clock,
      long lastPurge,
      boolean isCutOff) {
    this.table = table;
    this.key = key;
    this.expected = expected;
    this.loop = loop;
    this.clock = clock;
    this.begunAfter = lastPurge;
    this.begunNanos = clock.nanos();
    this.isCutOff = isCutOff;
  }

  // The leader's side

  /**
   * The leader's request is on its way.
   *
   * @param request kept until a head comes
   * @param whenDeserted told, on the leader's loop, when the last follower has left
   */
  public void led(RequestHead request, Runnable whenDeserted) {
    leading = request;
    deserted = whenDeserted;
  }

  /** Lets nobody follow any more if nobody follows at this moment; whether that is so. */
  public boolean closeIfDeserted() {
    return followers.compareAndSet(0, CLOSED) || followers.get() == CLOSED;
  }

  /** How many follow at this moment. */
  public int followers() {
    return Math.max(0, followers.get());
  }

  /**
   * All content is there, and the response, if it could be stored, is to be found. The caller holds
   * a lease; followers get their own in time.
   */
  public void filled(long contentLength) {
    if (stage.get() instanceof Stage.Filling filling) {
      table.remove(key, this);
      stage.set(new Stage.Filled(filling, contentLength));
      for (FollowerGroup group : groups.get()) {
        group.keep(filling.octets());
      }
      wake();
    } else {
      settle(new Stage.Again(true));
    }
  }

  /**
   * The content cannot be stored any further. The caller still holds its lease.
   *
   * @param storedLength octets of content stored
   * @param origin who is paused when readers are too slow
   * @param stuck what to do when that does not help; on the leader's loop
   * @return where the rest of the content goes; null if nobody reads along, and then the flight is
   *     over
   */
  public @Nullable ContentWindow overflow(long storedLength, ContentSource origin, Runnable stuck) {
    if (!(stage.get() instanceof Stage.Filling filling)) {
      settle(new Stage.Again(true));
      return null;
    }
    table.remove(key, this);
    stage.set(new Stage.Overflowing(filling, storedLength));
    FollowerGroup[] readers = groups.get();
    ContentWindow window = new ContentWindow(loop, origin, stuck);
    window.readers(readers);
    for (FollowerGroup group : readers) {
      group.readFrom(window);
      group.wake();
    }
    return readers.length == 0 ? null : window;
  }

  /** A stored response has become usable again: the followers find it, unless it was removed. */
  public void freshened() {
    settle(new Stage.Again(true));
  }

  /** Ends the flight: that is the last that its followers learn. */
  void settle(Stage last) {
    table.remove(key, this);
    publish(last);
  }

  /** Says how far it has come. */
  void publish(Stage next) {
    stage.set(next);
    wake();
  }

  /** The origin is slow: those who have something stored need not wait. */
  void late() {
    isLate = true;
    wake();
  }

  /** More content can be read. */
  void wake() {
    for (FollowerGroup group : groups.get()) {
      group.wake();
    }
  }

  // The followers' side

  /** Whether whoever may answer with something stored should do so. */
  public boolean isLate() {
    return isLate;
  }

  Stage stage() {
    return stage.get();
  }

  /** The selecting fields of its response, as far as they are known; else null. */
  @Nullable SelectingFields selecting() {
    return stage.get() instanceof Stage.Filling filling ? filling.selecting() : expected;
  }

  /** Whether its response may be the one that a request selects. Borrows the request. */
  boolean mayAnswer(RequestHead request) {
    SelectingFields known = selecting();
    return known == null || known.matches(request);
  }

  /**
   * Whether something was purged since it began that its response is part of, as far as that is
   * known: then those who come later must not get that response.
   *
   * @param request one for the same target; borrowed
   */
  boolean isPurged(RequestHead request) {
    Tags tags = stage.get() instanceof Stage.Filling filling ? filling.facts().tags() : null;
    return table.purges().isRemoved(begunAfter, tags, () -> NormalUri.of(request));
  }

  /** The last purge, which whoever joins now must know. */
  long lastPurge() {
    return table.purges().last();
  }

  /**
   * As {@link #isPurged}, now that the tags are known, for one that joined after that purge; then
   * nobody joins any more.
   */
  boolean isTooOldFor(long joinedAfter, StoredFacts facts, RequestHead request) {
    boolean isTooOld =
        joinedAfter > begunAfter
            && table.purges().isRemoved(begunAfter, facts.tags(), () -> NormalUri.of(request));
    if (isTooOld) {
      supersede();
    }
    return isTooOld;
  }

  /**
   * Whether those who come later may follow without knowing the purges of other nodes. What began
   * while this node knew them may bring what another node has stored. A process that stood still
   * may have slept through any number of purges since this began, even if it was cut off before.
   */
  boolean isForCutOff() {
    return isCutOff && clock.nanos() - begunNanos < YOUNG_NANOS;
  }

  /** Counts one more follower; false if the leader has left for good. Any loop. */
  boolean enter() {
    int before = followers.get();
    while (before != CLOSED) {
      if (followers.compareAndSet(before, before + 1)) {
        return true;
      }
      before = followers.get();
    }
    return false;
  }

  /** Adds a follower that has entered, on its loop; it looks at the stage by itself. */
  void join(Follower follower, EventLoop home) {
    groupOf(home).add(follower);
  }

  /**
   * A response that may be reused was stored under its key, before its own head. If that answers
   * the leader's request, the followers find it; else it tells which fields select. Any thread.
   */
  void stored(SelectingFields selecting) {
    if (stage.get() instanceof Stage.Waiting) {
      FollowerGroup.execute(loop, () -> learn(selecting));
    }
  }

  private void learn(SelectingFields selecting) {
    if (leading == null || !(stage.get() instanceof Stage.Waiting)) {
      return;
    }
    if (selecting.matches(leading)) {
      settle(new Stage.Again(true));
    } else if (expected == null) {
      expected = selecting.in(leading);
      wake();
    }
  }

  /** Lets nobody join any more. Those who have stay, and the leader goes on. Any loop. */
  void supersede() {
    table.remove(key, this);
  }

  void left() {
    if (followers.decrementAndGet() == 0) {
      FollowerGroup.execute(loop, () -> deserted.run());
    }
  }

  private FollowerGroup groupOf(EventLoop home) {
    @Nullable FollowerGroup added = null;
    while (true) {
      FollowerGroup[] before = groups.get();
      for (FollowerGroup group : before) {
        if (group.loop().equals(home)) {
          return group;
        }
      }
      if (added == null) {
        added = new FollowerGroup(home, clock);
      }
      FollowerGroup[] after = Arrays.copyOf(before, before.length + 1);
      after[before.length] = added;
      if (groups.compareAndSet(before, after)) {
        return added;
      }
    }
  }
}
