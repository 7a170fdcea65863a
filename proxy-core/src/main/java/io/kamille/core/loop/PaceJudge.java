package io.kamille.core.loop;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Allows the pauses of one loop only while they are shown to save processor time. Pure: knows no
 * clock but what it is told. Confined to its loop.
 */
final class PaceJudge {

  /*
   * The law of PaceController reckons what pauses should save, from the cost of a poll. The judge
   * measures it, in a trial that begins when the law first wants to pause.
   *
   * A trial is a series of pairs. A pair is two windows of a second, one in which the law may pause
   * and one in which it may not, in an order drawn from a seeded generator. The first eighth of a
   * window is left out: the law climbs, and caches settle. A pair counts if the load of both was
   * equal, within 15 %, and gives one saving:
   *
   *   s = 1 - (processor time / requests with pauses) / (the same without)
   *
   * The mean of n savings is known to ± t sd / sqrt(n), where t is Student's for 95 % and n - 1
   * degrees of freedom. After 6, 12 and 24 pairs the judge looks, and decides if that interval lies
   * above or below the least saving. After 24, or 32 with those that did not count, it decides
   * against pauses. Three looks, each wrong in favour of pauses in 2.5 % of trials, are together
   * wrong in about 5 % (Pocock, "Group sequential methods in the design and analysis of clinical
   * trials", 1977).
   *
   * The verdict holds for 4 minutes, and twice as long each time it is confirmed, up to 64. If the
   * rate of requests is 1.5 times or 2/3 of the rate of the trial for three seconds in a row, the
   * verdict is forgotten; an eighth of its time must have passed, so that trials stay rare.
   *
   * An event that comes while the loop pauses or works waits for the next poll, and then for half
   * of its batch. Without pauses, only one that comes while the loop works waits.
   */
  enum Stand {
    /** Nothing is known, and the law did not want to pause. */
    UNASKED,
    TRYING,
    ALLOWED,
    OUT
  }

  /** Adaptive pauses must save a tenth. */
  static final double LEAST_SAVING = 0.1;

  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long FIRST_DISTANCE_NANOS = TimeUnit.MINUTES.toNanos(4);
  static final long LONGEST_DISTANCE_NANOS = TimeUnit.MINUTES.toNanos(64);

  private static final long SETTLING_NANOS = WINDOW_NANOS / 8;
  private static final int HEEDS_CHANGES_AFTER = 8;
  private static final double UNEQUAL = 0.15;
  private static final double CHANGE = 1.5;
  private static final int CHANGED_WINDOWS = 3;
  private static final int MOST_TRIED = 32;
  private static final int[] LOOKS = {6, 12, 24};
  private static final double[] STUDENT = {2.571, 2.201, 2.069};

  private final double leastSaving;
  private final SplittableRandom random;
  private final Work paced = new Work();
  private final Work unpaced = new Work();
  private final Work lately = new Work();

  private Stand stand = Stand.UNASKED;
  private @Nullable PaceJudgement judgement;

  // Of the trial
  private boolean mayPause;
  private boolean isSecond;
  private long windowNanos;
  private int tried;
  private int pairs;
  private double saving;
  private double squares;
  private double waitNanos;
  private double rate;

  // Of the verdict
  private double judgedRate;
  private int changedWindows;
  private long distanceNanos = FIRST_DISTANCE_NANOS;

  /**
   * Knows nothing.
   *
   * @param leastSaving share of the processor time that pauses must save; zero to allow them
   *     untried
   * @param seed for the order of windows
   */
  PaceJudge(double leastSaving, long seed) {
    this.leastSaving = leastSaving;
    random = new SplittableRandom(seed);
  }

  /** Begins anew. */
  void reset() {
    stand = Stand.UNASKED;
    judgement = null;
    distanceNanos = FIRST_DISTANCE_NANOS;
  }

  /** What the last trial found; null before. */
  @Nullable PaceJudgement judgement() {
    return judgement;
  }

  /** Whether pauses are out, for a window or until the next trial. */
  boolean forbids() {
    return stand == Stand.OUT || (stand == Stand.TRYING && !mayPause);
  }

  /** Why they are. */
  PaceReason reason() {
    return stand == Stand.OUT ? PaceReason.SAVES_TOO_LITTLE : PaceReason.JUDGING;
  }

  /** The law wants to pause: whether it may. Begins a trial if nothing is known. */
  boolean allows(long nowNanos) {
    if (leastSaving > 0 && stand == Stand.UNASKED) {
      stand = Stand.TRYING;
      tried = 0;
      pairs = 0;
      saving = 0;
      squares = 0;
      waitNanos = 0;
      rate = 0;
      beginPair(nowNanos);
    }
    return !forbids();
  }

  /**
   * Learns what the loop did.
   *
   * @param hasPaused whether it had an interval then
   */
  void saw(LoadSample load, boolean hasPaused, long nowNanos) {
    switch (stand) {
      case UNASKED -> {}
      case TRYING -> tries(load, hasPaused, nowNanos);
      case ALLOWED, OUT -> holds(load, hasPaused, nowNanos);
    }
  }

  private void beginPair(long nowNanos) {
    paced.clear();
    unpaced.clear();
    isSecond = false;
    mayPause = random.nextBoolean();
    windowNanos = nowNanos;
  }

  private void tries(LoadSample load, boolean hasPaused, long nowNanos) {
    if (nowNanos - load.elapsedNanos() - windowNanos >= SETTLING_NANOS) {
      (mayPause ? paced : unpaced).add(load, hasPaused);
    }
    if (nowNanos - windowNanos < WINDOW_NANOS) {
      return;
    }
    if (isSecond) {
      compare();
      if (!decides(nowNanos)) {
        beginPair(nowNanos);
      }
    } else {
      isSecond = true;
      mayPause = !mayPause;
      windowNanos = nowNanos;
    }
  }

  private void compare() {
    tried++;
    boolean areCounted = paced.requests > 0 && unpaced.requests > 0;
    double with = paced.cpuNanosFor(areCounted);
    double without = unpaced.cpuNanosFor(areCounted);
    double before = unpaced.rate(areCounted);
    boolean isEqual = Math.abs(paced.rate(areCounted) - before) <= UNEQUAL * before;
    if (with <= 0 || without <= 0 || before <= 0 || !isEqual) {
      return;
    }
    pairs++;
    double next = 1 - with / without;
    double off = next - saving;
    saving += off / pairs;
    squares += off * (next - saving);
    waitNanos += (paced.waitNanos() - unpaced.waitNanos() - waitNanos) / pairs;
    rate += (before - rate) / pairs;
  }

  private boolean decides(long nowNanos) {
    boolean isOver = tried >= MOST_TRIED;
    for (int i = 0; i < LOOKS.length; i++) {
      if (pairs == LOOKS[i]) {
        double half = uncertainty(STUDENT[i]);
        boolean isShown = saving - half >= leastSaving;
        if (isShown || saving + half < leastSaving || i == LOOKS.length - 1) {
          decide(isShown, half, nowNanos);
          return true;
        }
      }
    }
    if (isOver) {
      decide(false, uncertainty(STUDENT[0]), nowNanos);
    }
    return isOver;
  }

  private double uncertainty(double student) {
    return pairs < 2 ? 1 : student * Math.sqrt(squares / (pairs - 1) / pairs);
  }

  private void decide(boolean isAllowed, double uncertainty, long nowNanos) {
    boolean isConfirmed = judgement != null && judgement.allowsPauses() == isAllowed;
    distanceNanos =
        isConfirmed ? Math.min(2 * distanceNanos, LONGEST_DISTANCE_NANOS) : FIRST_DISTANCE_NANOS;
    judgement =
        new PaceJudgement(isAllowed, saving, uncertainty, Math.round(waitNanos), pairs, nowNanos);
    stand = isAllowed ? Stand.ALLOWED : Stand.OUT;
    judgedRate = rate;
    changedWindows = 0;
    lately.clear();
  }

  private void holds(LoadSample load, boolean hasPaused, long nowNanos) {
    long age = nowNanos - (judgement == null ? nowNanos : judgement.nanos());
    if (age >= distanceNanos) {
      stand = Stand.UNASKED;
      return;
    }
    lately.add(load, hasPaused);
    if (lately.elapsedNanos < WINDOW_NANOS) {
      return;
    }
    double now = lately.rate(lately.requests > 0);
    lately.clear();
    changedWindows =
        now > CHANGE * judgedRate || now * CHANGE < judgedRate ? changedWindows + 1 : 0;
    if (changedWindows >= CHANGED_WINDOWS && age >= distanceNanos / HEEDS_CHANGES_AFTER) {
      stand = Stand.UNASKED;
    }
  }

  /** What the loop did in one kind of window. */
  private static final class Work {

    private long elapsedNanos;
    private long cpuNanos;
    private long requests;
    private long events;
    private long polls;
    private double busyNanos;
    private double waitingNanos;

    private void clear() {
      elapsedNanos = 0;
      cpuNanos = 0;
      requests = 0;
      events = 0;
      polls = 0;
      busyNanos = 0;
      waitingNanos = 0;
    }

    /** Differences of counters that have wrapped are right; of one that was set back, negative. */
    private void add(LoadSample load, boolean hasPaused) {
      elapsedNanos += load.elapsedNanos();
      cpuNanos += load.cpuNanos();
      requests += load.requests();
      events += load.events();
      polls += load.polls();
      busyNanos += load.busyNanos();
      waitingNanos += hasPaused ? load.elapsedNanos() : load.utilisation() * load.busyNanos();
    }

    private double rate(boolean areCounted) {
      return elapsedNanos <= 0 ? 0 : (double) (areCounted ? requests : events) / elapsedNanos;
    }

    /** Processor time of a request, or of an event; zero if there was none. */
    private double cpuNanosFor(boolean areCounted) {
      long done = areCounted ? requests : events;
      return done <= 0 ? 0 : (double) cpuNanos / done;
    }

    /** How long an event waits for its poll and in its batch, at the median. */
    private double waitNanos() {
      return polls <= 0 ? 0 : (waitingNanos + busyNanos) / 2 / polls;
    }
  }
}
