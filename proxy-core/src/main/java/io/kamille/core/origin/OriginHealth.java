package io.kamille.core.origin;

import io.kamille.core.origin.Standing.Cause;
import io.kamille.core.origin.Standing.Phase;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Whether an origin deserves requests, judged by how its last ones ended. Any thread. */
public final class OriginHealth {

  /*
   *        too many failures            the while is over            it answers
   *   IN ─────────────────────► OUT ───────────────────► PROBED ──────────────► RETURNING ──► IN
   *                              ▲                          │ it fails               │
   *                              └──────────────────────────┴────────────────────────┘
   *
   * Out means: no answer to so many requests in a row, or too large a share of failures among those
   * of the last seconds or in a row (FailureWindow), where an answer 502, 503 or 504 counts too.
   * After a while whoever is first to claim the probe sends one request (OriginChoice says which),
   * and nobody else does until that one has ended or the while has passed again. What fails again
   * is left alone twice as long, up to a limit and with some chance in it, so that many proxies do
   * not come back in step. Who answers a probe returns slowly: a cold origin that gets its full
   * share at once falls again.
   *
   * Out for failures in a row, any answer brings it back: also to a request that was sent before,
   * or because all others were out too. Out for a share of failures, only the probe's does. What it
   * failed before it answered is not held against it any more.
   *
   * If the origin says in a 503 after what time to come back, it is left alone no shorter, within
   * the limit. That alone puts it out never: one URL may say so, and it is clients who choose URLs.
   *
   * Active checks (HealthChecker) put an origin out and bring it back by the same standing. Out for
   * its checks, only they bring it back, and no request probes it. Out for its requests, checks
   * that fail take it over; checks that pass end it only if it took no connections: an origin may
   * be well for checks and broken for users, whose requests then decide.
   *
   * Apart from that, an origin may be known to be unreachable: it was put out by failing to take
   * connections, which no request can bring about by what it asks for. Such an origin is tried by
   * one request at a time even when it is the only one left.
   *
   * Somebody may also drain an origin for a while, whatever its health: it gets no new request, and
   * its health is judged on. The only origin of an upstream is asked all the same.
   *
   * The standing is one value that is replaced as a whole; who loses the race to replace it judges
   * by the standing that won. Under another policy the same standing goes on: requests that began
   * under the last one are judged by that one still, and what they find out holds for both.
   */

  private static final String ANSWERS = "it answers again";
  private static final String FAILING = "too many of its requests fail";
  private static final String LATE = "too many of its requests fail, or others answer them sooner";
  public static final int WHOLE_SHARE = 100;
  private static final int FIRST_SHARE = 10;
  private static final long NO_TRIAL = Long.MIN_VALUE;
  private static final long NOT_DRAINED = Long.MIN_VALUE;
  private static final long NOT_AWAY = Long.MIN_VALUE;

  private final HealthPolicy policy;
  private final Known known;

  /** What is known of an origin, under whichever policy. */
  private static final class Known {
    final DoubleSupplier chance;
    final FailureWindow window = new FailureWindow();
    final AtomicReference<Standing> standing = new AtomicReference<>(Standing.HEALTHY);
    final AtomicLong trialNanos = new AtomicLong(NO_TRIAL);
    final AtomicLong drainedUntilNanos = new AtomicLong(NOT_DRAINED);
    final AtomicLong awayUntilNanos = new AtomicLong(NOT_AWAY);
    final LongAdder failuresInAll = new LongAdder();

    Known(DoubleSupplier chance) {
      this.chance = chance;
    }
  }

  /** A healthy start. */
  public OriginHealth(HealthPolicy policy) {
    this(policy, () -> ThreadLocalRandom.current().nextDouble());
  }

  /** A healthy start, with numbers from 0 to 1 that lengthen each while by up to a quarter. */
  public OriginHealth(HealthPolicy policy, DoubleSupplier chance) {
    this(policy, new Known(chance));
  }

  private OriginHealth(HealthPolicy policy, Known known) {
    this.policy = policy;
    this.known = known;
  }

  /** The same health, judged by {@code other}; this where the policy is the same. */
  OriginHealth under(HealthPolicy other) {
    return other.equals(policy) ? this : new OriginHealth(other, known);
  }

  /** Whether requests may go to the origin, as usual or in growing number. */
  public boolean isIn() {
    return known.standing.getAcquire().isIn();
  }

  /** Where it stands at this moment, and why. */
  public Standing standing() {
    return known.standing.getAcquire();
  }

  /** Failures since the start, also those that a success followed. */
  public long failuresInAll() {
    return known.failuresInAll.sum();
  }

  /** Drains the origin until then, by the monotonic clock. Any thread. */
  public void drain(long untilNanos) {
    known.drainedUntilNanos.set(untilNanos);
  }

  /** Ends the drain. Any thread. */
  public void endDrain() {
    known.drainedUntilNanos.set(NOT_DRAINED);
  }

  /** How long it is drained yet; 0 if it is not. Any thread. */
  public long drainedNanos(long nowNanos) {
    long until = known.drainedUntilNanos.getAcquire();
    return until == NOT_DRAINED ? 0 : Math.max(0, until - nowNanos);
  }

  public boolean isDrained(long nowNanos) {
    return drainedNanos(nowNanos) > 0;
  }

  /** Where it stands, for the process that comes after us; null if there is nothing to say. */
  public @Nullable String words(long nowNanos) {
    Standing now = known.standing.getAcquire();
    return now.isHealthy() ? null : now.words(nowNanos);
  }

  /**
   * Goes on where another process left off, unless something is known here already.
   *
   * @param words what {@link #words} said there a moment ago
   * @throws IllegalArgumentException if it says something else; nothing has changed then
   */
  public void take(String words, long nowNanos) {
    known.standing.compareAndSet(Standing.HEALTHY, Standing.of(words, nowNanos));
  }

  /** How much of its usual share of requests the origin may get, in percent; 0 when it is out. */
  public int sharePercent(long nowNanos) {
    Standing now = known.standing.getAcquire();
    return switch (now.phase()) {
      case IN -> WHOLE_SHARE;
      case OUT, PROBED -> 0;
      case RETURNING -> growing(nowNanos - now.nanos());
    };
  }

  private int growing(long returningNanos) {
    long whole = policy.returnNanos();
    return returningNanos >= whole
        ? WHOLE_SHARE
        : FIRST_SHARE + (int) ((WHOLE_SHARE - FIRST_SHARE) * Math.max(returningNanos, 0) / whole);
  }

  /**
   * Whether the caller, and nobody else, may try the origin with one request now.
   *
   * @param atOnce whether as soon as it is due; else once nobody has claimed it for as long as an
   *     origin is out at least
   */
  public boolean claimProbe(boolean atOnce, long nowNanos) {
    Standing last = known.standing.get();
    long leftToOthers = atOnce ? 0 : policy.outFor().toNanos();
    return !last.isIn()
        && (last.cause() != Cause.CHECK || !policy.check().isOn())
        && nowNanos - last.nanos() >= leftToOthers
        && known.standing.compareAndSet(
            last, last.probedUntil(nowNanos + policy.outFor().toNanos()));
  }

  /** Whether it may not be asked even when all others are out: it takes no connections. */
  public boolean isBarred() {
    Standing now = known.standing.getAcquire();
    return !now.isIn() && now.isUnreachable();
  }

  /**
   * Whether the caller may try an origin that is unreachable, since no other request does. The
   * trial ends with the next verdict, or lapses.
   */
  public boolean claimTrial(long nowNanos) {
    long last = known.trialNanos.get();
    return (last == NO_TRIAL || nowNanos - last >= policy.outFor().toNanos())
        && known.trialNanos.compareAndSet(last, nowNanos);
  }

  /** The probe or trial that the caller has claimed tells nothing: another request may be it. */
  public void leaveProbe(long nowNanos) {
    endTrial();
    Standing last = known.standing.get();
    if (last.phase() == Phase.PROBED) {
      known.standing.compareAndSet(last, last.due(nowNanos));
    }
  }

  private void endTrial() {
    if (known.trialNanos.getAcquire() != NO_TRIAL) {
      known.trialNanos.set(NO_TRIAL);
    }
  }

  /** The origin has taken a connection. */
  public void reached() {
    endTrial();
    Standing last = known.standing.get();
    while (last.isUnreachable() && !known.standing.compareAndSet(last, last.reachable(true))) {
      last = known.standing.get();
    }
  }

  /** The origin sent a head with this status code. Whether that brings it back. */
  public boolean answered(int status, long nowNanos) {
    endTrial();
    Standing last = known.standing.getAcquire();
    if (last.isHealthy()) {
      return false;
    }
    Standing next = afterAnswer(last, status, nowNanos);
    boolean returns = !last.isIn() && next.isIn();
    if (returns) {
      // Before anybody can find it in: what still failed while it was out puts nobody out.
      known.window.clear();
    }
    return known.standing.compareAndSet(last, next) && returns;
  }

  private Standing afterAnswer(Standing last, int status, long nowNanos) {
    boolean isGood = !isFailing(status);
    return switch (last.phase()) {
      case IN -> last.failures(0);
      case OUT ->
          isGood && last.cause() == Cause.FAILURES ? last.returning(nowNanos, ANSWERS) : last;
      case PROBED ->
          isGood
              ? last.returning(nowNanos, ANSWERS)
              : out(last, false, last.cause(), nowNanos, "its probe got " + status);
      case RETURNING -> {
        boolean isBack = isGood && nowNanos - last.nanos() >= policy.returnNanos();
        yield isBack ? last.back(nowNanos) : last.failures(0);
      }
    };
  }

  /** What an origin, or what stands before it, says when it cannot serve at all. */
  public static boolean isFailing(int status) {
    return status == 502 || status == 503 || status == 504;
  }

  private boolean isTooMuch(boolean hasFailed, long nowNanos) {
    return known.window.count(hasFailed, policy.failureRatio(), nowNanos);
  }

  /** A request that the origin answered with this status code is over. As {@link #failed}. */
  public @Nullable String ended(int status, long nowNanos) {
    return isTooMuch(isFailing(status), nowNanos) ? putOut(FAILING, nowNanos) : null;
  }

  /** Another origin answered sooner that was asked later. As {@link #failed}. */
  public @Nullable String lost(long nowNanos) {
    return isTooMuch(true, nowNanos) ? putOut(LATE, nowNanos) : null;
  }

  /**
   * The origin could not be reached, or gave no proper answer.
   *
   * @return why this has put it out, or null
   */
  public @Nullable String failed(boolean isUnreachable, long nowNanos) {
    endTrial();
    known.failuresInAll.increment();
    boolean isTooMuch = isTooMuch(true, nowNanos);
    while (true) {
      Standing last = known.standing.get();
      Standing next = afterFailure(last, isUnreachable, nowNanos);
      if (known.standing.compareAndSet(last, next)) {
        if (last.isIn() && !next.isIn()) {
          known.window.clear();
          return next.why();
        }
        return isTooMuch ? putOut(FAILING, nowNanos) : null;
      }
    }
  }

  private Standing afterFailure(Standing last, boolean isUnreachable, long nowNanos) {
    return switch (last.phase()) {
      case IN, RETURNING -> {
        Standing failing = last.failures(last.failures() + 1);
        yield failing.failures() < policy.failuresUntilOut()
            ? failing
            : out(
                failing,
                isUnreachable,
                Cause.FAILURES,
                nowNanos,
                failing.failures() + " failures in a row");
      }
      case OUT -> last.reachable(!isUnreachable);
      case PROBED ->
          out(last, isUnreachable, last.cause(), nowNanos, "its probe failed; " + last.why());
    };
  }

  private @Nullable String putOut(String why, long nowNanos) {
    Standing last = known.standing.get();
    if (last.isIn()
        && known.standing.compareAndSet(last, out(last, false, Cause.RATIO, nowNanos, why))) {
      known.window.clear();
      return why;
    }
    return null;
  }

  private Standing out(
      Standing last, boolean isUnreachable, Cause cause, long nowNanos, String why) {
    long nanos = Math.max(policy.outNanos(last.timesOut() + 1), awayNanos(nowNanos));
    long until = nowNanos + nanos + (long) (0.25 * nanos * known.chance.getAsDouble());
    return last.out(until, isUnreachable, cause, nowNanos, why);
  }

  private long awayNanos(long nowNanos) {
    long until = known.awayUntilNanos.getAcquire();
    return until == NOT_AWAY ? 0 : Math.min(until - nowNanos, policy.longestOutNanos());
  }

  /** The origin asks to be left alone for so long, or says nothing of it: 0. */
  public void awayFor(long seconds, long nowNanos) {
    long nanos = Math.min(TimeUnit.SECONDS.toNanos(seconds), policy.longestOutNanos());
    known.awayUntilNanos.setRelease(nanos <= 0 ? NOT_AWAY : nowNanos + nanos);
  }

  // Active checks

  /**
   * So many of its checks have failed that they decide.
   *
   * @param isUnreachable whether the last one got no connection
   * @return whether this has put it out
   */
  public boolean checksFailed(String why, boolean isUnreachable, long nowNanos) {
    Standing last = known.standing.get();
    while (!known.standing.compareAndSet(last, last.outByChecks(isUnreachable, nowNanos, why))) {
      last = known.standing.get();
    }
    return last.isIn();
  }

  /**
   * So many of its checks have passed that they decide: of what they know better than requests do.
   *
   * @return whether this brings it back
   */
  public boolean checksPassed(long nowNanos) {
    Standing last = known.standing.get();
    boolean isTheirs = last.cause() == Cause.CHECK || last.isUnreachable();
    if (last.isIn() || !isTheirs) {
      return false;
    }
    endTrial();
    known.window.clear();
    return known.standing.compareAndSet(last, last.returning(nowNanos, "its checks pass"));
  }
}
