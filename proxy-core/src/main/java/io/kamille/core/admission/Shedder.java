package io.kamille.core.admission;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Sheds requests of one loop while it is late. Confined to its loop, unless a method says more. */
public final class Shedder {

  /*
   * How late a loop is, is how long the last of the requests that one poll brought had to wait for
   * those before it: the time from the first read of a turn to the last. A pause before the poll is
   * no part of it, so a paced loop is not taken for a late one. Nothing is measured for it: the time
   * of a read is looked at anyway, and the number of the poll tells the turns apart.
   *
   * A window is judged after three turns at the soonest. So one long turn, a collector's pause for
   * example, is never all there is to see.
   */
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long HOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int LEAST_TURNS = 3;
  private static final int MOST_WINDOWS = 20;

  private final LongSupplier polls;
  private final LongAdder shedAtOnce;
  private final LongAdder shedForwards;
  private final SplittableRandom random = new SplittableRandom();
  private OverloadLaw law = new OverloadLaw(0);
  private long turn;
  private long turnStartNanos;
  private long lastReadNanos;
  private long windowStartNanos;
  private long leastNanos;
  private int turns;
  private boolean hasRead;
  // Written by any thread
  private volatile long targetNanos;
  private volatile double forcedShare = Double.NaN;
  // Written by the loop
  private volatile double lawfulShare;

  Shedder(LongSupplier polls, long targetNanos, LongAdder shedAtOnce, LongAdder shedForwards) {
    this.polls = polls;
    this.targetNanos = targetNanos;
    this.shedAtOnce = shedAtOnce;
    this.shedForwards = shedForwards;
  }

  /** One that sheds nothing. */
  public static Shedder off() {
    return new Shedder(() -> 0, 0, new LongAdder(), new LongAdder());
  }

  /** How late the loop may be, in nanoseconds; 0 to shed nothing. Any thread. */
  void target(long nanos) {
    targetNanos = nanos;
  }

  /**
   * What is shed now: of requests to be forwarded up to 1, of others what is over 1. Any thread.
   */
  public double share() {
    double forced = forcedShare;
    return Double.isNaN(forced) ? lawfulShare : forced;
  }

  /** Sheds this share from now on, however late the loop is. Any thread. */
  void force(double share) {
    forcedShare = share;
  }

  /** Goes by what is measured again. Any thread. */
  void obeyLaw() {
    forcedShare = Double.NaN;
  }

  /** The loop begins to read from a client. */
  public void read(long nowNanos) {
    long target = targetNanos;
    if (target != law.targetNanos()) {
      begin(target);
    }
    if (target != 0) {
      measure(nowNanos, polls.getAsLong());
    }
  }

  private void begin(long target) {
    law = new OverloadLaw(target);
    hasRead = false;
    publish();
  }

  private void measure(long now, long poll) {
    if (!hasRead || now - lastReadNanos >= IDLE_NANOS) {
      begin(law.targetNanos());
      hasRead = true;
      beginWindow(now);
      beginTurn(now, poll);
    } else if (poll != turn) {
      leastNanos = Math.min(leastNanos, lastReadNanos - turnStartNanos);
      turns++;
      judge(now);
      beginTurn(now, poll);
    }
    lastReadNanos = now;
  }

  private void beginTurn(long now, long poll) {
    turn = poll;
    turnStartNanos = now;
  }

  private void beginWindow(long now) {
    windowStartNanos = now;
    leastNanos = Long.MAX_VALUE;
    turns = 0;
  }

  /** Tells the law of the window if it is over: as often as it is long, so that time counts. */
  private void judge(long now) {
    long windows = (now - windowStartNanos) / WINDOW_NANOS;
    if (windows == 0 || turns < LEAST_TURNS) {
      return;
    }
    for (long i = Math.min(windows, MOST_WINDOWS); i > 0; i--) {
      law.window(leastNanos);
    }
    publish();
    beginWindow(now);
  }

  private void publish() {
    if (lawfulShare != law.share()) {
      lawfulShare = law.share();
    }
  }

  /** Whether a request is shed before anybody has looked at it; counted. */
  public boolean shedsAtOnce() {
    return sheds(share() - 1, shedAtOnce);
  }

  /** Whether a request is shed that would be forwarded; counted. */
  boolean shedsForward() {
    return sheds(share(), shedForwards);
  }

  private boolean sheds(double probability, LongAdder count) {
    boolean shed = probability > 0 && random.nextDouble() < probability;
    if (shed) {
      count.increment();
    }
    return shed;
  }

  /** For how long a client that was shed is not read from: not for the same time as others. */
  public long holdNanos() {
    return HOLD_NANOS / 2 + random.nextLong(HOLD_NANOS);
  }
}
