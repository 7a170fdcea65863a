package io.kamille.core.loop;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the interval of one loop by trial: the one that saves the most processor time per
 * request, or none if none is shown to save enough. Pure: knows no clock but what it is told.
 * Confined to its loop.
 */
final class PaceController {

  /*
   * A poll costs the same however many events it brings, but a pause costs a sleep and a wake-up.
   * Which of the two is more depends on the machine, so it is measured and not reckoned.
   *
   * An event waits at most the interval for its poll. So the longest interval that adds the budget
   * B at the 99th percentile is B, less what pauses were found to end late (L):
   *
   *   cap = B - min(L, B/4)           tried: none, cap/4, cap/2 and cap
   *
   * A request that is forwarded waits for two polls, its own and that of the origin's answer. Where
   * more than one in a hundred is forwarded, and those take less than 20 B on the mean, so that the
   * second wait would count, cap is half of that. Once a trial goes on or has a verdict, a change
   * counts if it holds for 60 windows in a row.
   *
   * A trial begins when a pause of cap would gather four events in each of two windows. It is made
   * of 20 blocks. A block is one window with each interval and one without, in random order, so
   * that a load that changes harms all alike. 10 ms before each window are left out. A window that
   * lasts twice as long as it should is repeated, because a poll without a limit spans a gap in
   * traffic. After more than 20 such windows, the trial ends. An interval wins a block if
   *
   *   processor time / requests <= 7/8 of that without,  and  requests/s >= 0.8 of those without.
   *
   * An eighth of the loop's processor time is about a tenth of the whole process's, which is the
   * promise: compilers and collectors do not save.
   *
   * An interval that lost five blocks is out, and the trial goes on without it. One that has won 16
   * of 20 is shown to save as much: by chance, that happens once in 170 (sign test), for the three
   * together once in 56. The test asks for no distribution, and a collection of garbage in a window
   * spoils one block and not the mean. In all windows together, requests may not have come seldomer
   * than without, by 5 % and three standard deviations of a Poisson count: clients that wait for
   * their answers before they ask again make no backlog, they only ask less often. Of the intervals
   * left, the one with the greatest saving (the median of its blocks) is kept.
   *
   * Without an interval, a loop runs as with `off`, in a trial too: nothing is timed.
   *
   * The verdict holds for 30 s, and twice as long each time it is confirmed, up to 64 min. It says
   * nothing about another load: if the rate was 1.5 times or 2/3 of the trial's in 60 windows in a
   * row, there are no pauses, and a trial comes 30 s after the last one. It is forgotten if
   * requests begin or cease to wait twice. Then, or if a trial ends without a verdict, the next one
   * comes after 30 s. While a pause of cap would gather less than three events there is none. A
   * window is short enough for that: until it ends, only an event that follows another within the
   * interval has waited. A backlog needs no rule: a turn longer than the interval is followed by no
   * pause.
   */
  static final double LEAST_SAVING = 1 / 8.0;
  static final int BLOCKS = 20;
  static final long FIRST_DISTANCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  static final long LONGEST_DISTANCE_NANOS = TimeUnit.MINUTES.toNanos(64);

  private static final int INTERVALS = 3;
  private static final int MOST_LOST = 4;
  private static final double LEAST_ANSWERED = 0.8;
  private static final double LEAST_FALL = 0.05;
  private static final double DEVIATIONS = 3;
  private static final double GATHERED_TO_BEGIN = 4;
  private static final double GATHERED_TO_STAY = 3;
  private static final double GATHERED_TO_TRY = 2;
  private static final int WINDOWS_TO_BEGIN = 2;
  private static final int WINDOWS_OF_CHANGE = 60;
  private static final double CHANGE = 1.5;
  private static final long BUDGET_NANOS = PaceSettings.LATENCY_BUDGET.toNanos();
  private static final long LEAST_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int BUDGETS_PER_WINDOW = 16;
  private static final int SETTLING_PART = 5;
  private static final double LATE_SMOOTHING = 1 / 8.0;
  private static final double FORWARDED_TO_COUNT = 0.01;
  private static final double FORWARDED_NO_MORE = 0.005;
  private static final double SLOW_BUDGETS = 20;
  private static final double FORWARDED_MEMORY = 0.8;

  private enum Stand {
    UNASKED,
    TRYING,
    JUDGED
  }

  private final SplittableRandom random;
  private double lateNanos;
  private Stand stand = Stand.UNASKED;
  private PaceReason reason = PaceReason.LIGHT_LOAD;
  private @Nullable PaceJudgement judgement;

  /** Which interval holds: 0 for none, then from the shortest on. */
  private int level;

  private int windowsToTry;

  /** No trial begins for so long. */
  private long restNanos;

  // Of requests that wait twice
  private double answers;
  private double forwarded;
  private double forwardedNanos;
  private boolean waitsTwice;
  private int otherWindows;

  // Of the trial
  private final Arm[] arms = new Arm[1 + INTERVALS];
  private final int[] order = new int[arms.length];
  private int position;
  private int blocks;
  private int repeats;
  private boolean isSettling;

  // Of the verdict
  private int chosen;
  private PaceReason verdict = PaceReason.LIGHT_LOAD;
  private double judgedRate;
  private long judgedNanos;
  private long distanceNanos = FIRST_DISTANCE_NANOS;
  private int changedWindows;

  /**
   * Knows nothing.
   *
   * @param seed for the order in which intervals are tried
   */
  PaceController(long seed) {
    random = new SplittableRandom(seed);
    for (int i = 0; i < arms.length; i++) {
      arms[i] = new Arm();
      order[i] = i;
    }
  }

  /** Begins anew. What trials found holds on. */
  void reset() {
    if (stand == Stand.TRYING) {
      beginBlock();
    } else {
      changedWindows = 0;
      pause(0, PaceReason.LIGHT_LOAD);
    }
  }

  /** The interval now; zero for none. */
  long intervalNanos() {
    return intervalNanos(level);
  }

  PaceReason reason() {
    return reason;
  }

  /** What the last trial found; null before. */
  @Nullable PaceJudgement judgement() {
    return judgement;
  }

  /** How long the window that goes on should be. */
  long windowNanos() {
    long nanos = Math.max(LEAST_WINDOW_NANOS, BUDGETS_PER_WINDOW * BUDGET_NANOS);
    return isSettling ? nanos / SETTLING_PART : nanos;
  }

  /** A pause ended so much later than it was meant to. */
  void late(long nanos) {
    lateNanos += (Math.max(nanos, 0) - lateNanos) * LATE_SMOOTHING;
  }

  /** A window is over. */
  void window(LoadSample load, long nowNanos) {
    if (!isSettling) {
      watchForwarded(load);
    }
    double gathered = load.eventsPerNano() * intervalNanos(INTERVALS);
    switch (stand) {
      case UNASKED -> consider(load, gathered);
      case TRYING -> tries(load, gathered, nowNanos);
      case JUDGED -> holds(load, gathered, nowNanos);
    }
  }

  private long intervalNanos(int which) {
    if (which == 0) {
      return 0;
    }
    long cap = BUDGET_NANOS - Math.min((long) lateNanos, BUDGET_NANOS / 4);
    return (waitsTwice ? cap / 2 : cap) >> (INTERVALS - which);
  }

  private void pause(int which, PaceReason why) {
    level = which;
    reason = why;
  }

  /** Nothing is known of this load. It may be tried after that time. */
  private void ask(long rest) {
    stand = Stand.UNASKED;
    restNanos = rest;
    windowsToTry = 0;
    isSettling = false;
    pause(0, PaceReason.LIGHT_LOAD);
  }

  /** Learns how many requests wait for an origin's answer too, and whether they feel it. */
  private void watchForwarded(LoadSample load) {
    answers = answers * FORWARDED_MEMORY + load.requests();
    forwarded = forwarded * FORWARDED_MEMORY + load.forwarded();
    forwardedNanos = forwardedNanos * FORWARDED_MEMORY + load.forwardedNanos();
    double share = waitsTwice ? FORWARDED_NO_MORE : FORWARDED_TO_COUNT;
    double slow = SLOW_BUDGETS * BUDGET_NANOS * (waitsTwice ? 2 : 1);
    boolean seemsToWait = forwarded > share * answers && forwardedNanos < slow * forwarded;
    otherWindows = seemsToWait == waitsTwice ? 0 : otherWindows + 1;
    boolean isUnasked = stand == Stand.UNASKED;
    if (otherWindows >= (isUnasked ? 1 : WINDOWS_OF_CHANGE)) {
      waitsTwice = seemsToWait;
      otherWindows = 0;
      ask(isUnasked ? restNanos : FIRST_DISTANCE_NANOS);
    }
  }

  // The trial

  private void consider(LoadSample load, double gathered) {
    restNanos = Math.max(0, restNanos - load.elapsedNanos());
    windowsToTry = gathered >= GATHERED_TO_BEGIN ? windowsToTry + 1 : 0;
    if (windowsToTry < WINDOWS_TO_BEGIN || restNanos > 0) {
      boolean isLight = windowsToTry == 0 || restNanos == 0;
      pause(0, isLight ? PaceReason.LIGHT_LOAD : PaceReason.OTHER_LOAD);
      return;
    }
    stand = Stand.TRYING;
    blocks = 0;
    repeats = 0;
    for (int i = 0; i < arms.length; i++) {
      arms[i].clear();
      arms[i].isOut = i > 0 && gathered / (1 << (INTERVALS - i)) < GATHERED_TO_TRY;
    }
    beginBlock();
  }

  private void beginBlock() {
    for (int i = order.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int which = order[i];
      order[i] = order[other];
      order[other] = which;
    }
    position = -1;
    next();
  }

  /** The next interval that is still in; false at the end of the block. */
  private boolean next() {
    do {
      position++;
    } while (position < order.length && arms[order[position]].isOut);
    if (position == order.length) {
      return false;
    }
    isSettling = true;
    pause(order[position], PaceReason.TRYING);
    return true;
  }

  private void tries(LoadSample load, double gathered, long nowNanos) {
    if (isSettling) {
      isSettling = false;
    } else if (repeats > BLOCKS || (level == 0 && gathered < GATHERED_TO_STAY)) {
      ask(FIRST_DISTANCE_NANOS);
    } else if (load.elapsedNanos() > 2 * windowNanos()) {
      repeats++;
    } else {
      arms[level].add(load, level > 0);
      if (!next()) {
        compare(nowNanos);
      }
    }
  }

  private void compare(long nowNanos) {
    boolean isAnyIn = false;
    for (int i = 1; i < arms.length; i++) {
      if (!arms[i].isOut) {
        arms[i].compare(blocks, arms[0]);
        isAnyIn |= !arms[i].isOut;
      }
    }
    blocks++;
    if (isAnyIn && blocks < BLOCKS) {
      beginBlock();
    } else {
      decide(nowNanos);
    }
  }

  private void decide(long nowNanos) {
    Arm without = arms[0];
    int best = 0;
    int found = INTERVALS;
    boolean hasFallen = false;
    for (int i = 1; i < arms.length; i++) {
      Arm arm = arms[i];
      hasFallen |= arm.hasFallen(without);
      if (!arm.isOut && !arm.hasFallen(without) && (best == 0 || arm.beats(arms[best]))) {
        best = i;
      }
      if (arm.beats(arms[found])) {
        found = i;
      }
    }
    PaceJudgement before = judgement;
    boolean isConfirmed = before != null && before.allowsPauses() == best > 0;
    distanceNanos =
        isConfirmed ? Math.min(2 * distanceNanos, LONGEST_DISTANCE_NANOS) : FIRST_DISTANCE_NANOS;
    Arm told = arms[best > 0 ? best : found];
    judgement =
        new PaceJudgement(
            best > 0,
            intervalNanos(best > 0 ? best : found),
            told.saving(),
            told.uncertainty(),
            Math.round(told.waitNanos() - without.waitNanos()),
            nowNanos);
    stand = Stand.JUDGED;
    chosen = best;
    if (best > 0) {
      verdict = PaceReason.SAVES;
    } else {
      verdict = hasFallen ? PaceReason.CLOSED_LOOP : PaceReason.SAVES_TOO_LITTLE;
    }
    judgedRate = without.rate();
    judgedNanos = nowNanos;
    changedWindows = 0;
    pause(chosen, verdict);
  }

  // The verdict

  private void holds(LoadSample load, double gathered, long nowNanos) {
    long age = nowNanos - judgedNanos;
    double rate = load.requests() / (double) Math.max(1, load.elapsedNanos());
    changedWindows =
        rate > CHANGE * judgedRate || rate * CHANGE < judgedRate ? changedWindows + 1 : 0;
    boolean isOther = changedWindows >= WINDOWS_OF_CHANGE;
    boolean wasLight = reason == PaceReason.LIGHT_LOAD;
    if (age >= (isOther ? FIRST_DISTANCE_NANOS : distanceNanos)) {
      ask(0);
    } else if (gathered < (wasLight ? GATHERED_TO_BEGIN : GATHERED_TO_STAY)) {
      pause(0, PaceReason.LIGHT_LOAD);
    } else if (isOther) {
      pause(0, PaceReason.OTHER_LOAD);
    } else {
      pause(chosen, verdict);
    }
  }

  /** What one interval did in a trial, or none. */
  private static final class Arm {

    private final double[] savings = new double[BLOCKS];
    private boolean isOut;
    private int compared;
    private int lost;
    private int lostByRate;
    private long answers;
    private long nanos;
    private double waits;
    private int windows;

    // Of the block
    private double cost;
    private double blockRate;

    private void clear() {
      isOut = false;
      compared = 0;
      lost = 0;
      lostByRate = 0;
      answers = 0;
      nanos = 0;
      waits = 0;
      windows = 0;
    }

    private void add(LoadSample load, boolean hasPaused) {
      long done = Math.max(0, load.requests());
      cost = done == 0 ? 0 : (double) load.cpuNanos() / done;
      blockRate = done / (double) Math.max(1, load.elapsedNanos());
      answers += done;
      nanos += load.elapsedNanos();
      waits += load.waitNanos(hasPaused);
      windows++;
    }

    private void compare(int block, Arm without) {
      boolean isCounted = cost > 0 && without.cost > 0;
      savings[block] = isCounted ? 1 - cost / without.cost : 0;
      compared = block + 1;
      boolean isAsFast = blockRate >= LEAST_ANSWERED * without.blockRate;
      lost += isAsFast && savings[block] >= LEAST_SAVING ? 0 : 1;
      lostByRate += isAsFast ? 0 : 1;
      isOut = lost > MOST_LOST;
    }

    /** Whether fewer requests were answered than without pauses, beyond chance or by far. */
    private boolean hasFallen(Arm without) {
      double chance =
          DEVIATIONS * Math.sqrt(1.0 / Math.max(1, answers) + 1.0 / Math.max(1, without.answers));
      return isOut ? lostByRate > MOST_LOST : rate() < without.rate() * (1 - LEAST_FALL - chance);
    }

    private boolean beats(Arm other) {
      return compared > 0 && (other.compared == 0 || saving() > other.saving());
    }

    private double rate() {
      return answers / (double) Math.max(1, nanos);
    }

    private double saving() {
      return quantile(compared / 2);
    }

    /** Four of five blocks saved no less than the saving minus this. */
    private double uncertainty() {
      return saving() - quantile(compared / 5);
    }

    private double quantile(int index) {
      double[] sorted = Arrays.copyOf(savings, compared);
      Arrays.sort(sorted);
      return compared == 0 ? 0 : sorted[index];
    }

    private double waitNanos() {
      return windows == 0 ? 0 : waits / windows;
    }
  }
}
