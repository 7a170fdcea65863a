package io.kamille.core.loop;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the interval of one loop: the least processor time per request within a latency budget.
 * Pure: knows no clock but what it is told. Confined to its loop.
 */
final class PaceController {

  /*
   * The law.
   *
   * A poll costs c (system call, sleep, wake-up) however many events it brings, so that n events
   * per poll cost c/n each: the longest interval is the cheapest. An event waits at most the
   * interval for its poll, so the interval that adds the budget B at the 99th percentile is B, less
   * what pauses were found to end late (L):
   *
   *   cap = B - min(L, B/4)           interval = 0, cap/8, cap/4, cap/2 or cap
   *
   * A request that is forwarded waits for two polls, its own and that of the origin's answer. Where
   * more than one in a hundred is forwarded, and those take less than 20 B on the mean, so that the
   * second wait would count, cap is half of that.
   *
   * Up. Windows of 10 ms or 4 cap measure the rate r of events, the utilisation u and, while there
   * are no pauses, c = (processor time - busy time) / polls. Pacing begins after two windows with
   *   r cap >= 4                      a pause gathers enough to pay for itself,
   *   u >= 1/32                       B is at most 32 times the work it delays, and
   *   c (p - 2 / (1 + r cap)) >= 5 %  of the processor time of an event; p polls per event now, and
   *                                   a paced poll has two sleeps; not asked for from u = 3/4 on:
   *                                   there turns use up the interval and leave no pause to lose by.
   * It begins with the least step that gathers two events and takes one step up per window, unless
   * the window saw a retreat. r and u are means over about seven windows.
   *
   * Down. To zero when r cap < 3 or u < 1/64, and at once, without waiting for the window, when
   * pauses in a row gathered nothing in which nine events were due by the mean (chance: 1 in
   * 8,000): their polls had to wait, and then brought two events at most. By two steps at once when
   * the work of two turns in a row exceeds three times the mean by half the interval, or their
   * events three times the mean by 16: backlog. (One such turn is a hiccup of the machine as often
   * as not, and has left no pause anyway.) Between the bounds for up and down nothing changes
   * (hysteresis), and at the top nothing moves.
   *
   * Clients that wait for their answer before they ask again make no backlog: they only ask less
   * often (at most connections / interval), and u falls with r. So the rate of requests before the
   * first pause is remembered, and compared with that of the first ten windows at the top.
   * Requests, since two that gather on one connection are one event. If it fell by more than 5 %
   * beyond chance (three standard deviations of a Poisson count), or below the bounds before that,
   * pacing stops for 1 s, then 2, 4 .. 64 s. The question is asked again every 10 s, by 50 ms
   * without pauses.
   *
   * Above the law stands PaceJudge, which measures what the law reckons, and may forbid pauses.
   */
  static final int TOP = 4;

  private static final double GATHERED_TO_BEGIN = 4;
  private static final double GATHERED_TO_STAY = 3;
  private static final double UTILISATION_TO_BEGIN = 1 / 32.0;
  private static final double UTILISATION_TO_STAY = 1 / 64.0;
  private static final double LEAST_GAIN = 0.05;
  private static final double HIGH_UTILISATION = 0.75;
  private static final int WINDOWS_TO_BEGIN = 2;
  private static final int WINDOWS_TO_IDLE = 8;
  private static final double SMOOTHING = 0.25;
  private static final double TURN_SMOOTHING = 1 / 8.0;
  private static final long LEAST_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long EMPTY_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final int EMPTY_EVENTS = 2;
  private static final double EVENTS_MISSED = 9;
  private static final double EVENTS_OF_FIRST_STEP = 2;
  private static final double GROWTH = 3;
  private static final int BURST_EVENTS = 16;
  private static final int TRIAL_WINDOWS = 10;
  private static final double LEAST_FALL = 0.05;
  private static final double DEVIATIONS = 3;
  private static final double MEMORY = 0.8;
  private static final double FORWARDED_TO_COUNT = 0.01;
  private static final double FORWARDED_NO_MORE = 0.005;
  private static final double SLOW_BUDGETS = 20;
  private static final double LONG_MEMORY = 0.97;
  private static final long ASK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long ASK_FOR_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long FIRST_HOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_HOLD_NANOS = TimeUnit.SECONDS.toNanos(64);

  private final PaceJudge judge;
  private long budgetNanos;
  private double lateNanos;
  private PaceReason reason = PaceReason.LIGHT_LOAD;

  // Of the load, while it is watched
  private boolean hasMeans;
  private double eventsPerNano;
  private double utilisation;
  private double pollCostNanos;
  private double turnEvents;
  private double turnWorkNanos;
  private double answers;
  private double forwarded;
  private double forwardedNanos;
  private boolean waitsTwice;

  // Without pauses
  private int reasonsToBegin;
  private int lightWindows;
  private boolean isResting;
  private long restUntilNanos;
  private double unpacedAnswers;
  private double unpacedNanos;

  // With pauses
  private int level;
  private boolean isPacing;
  private long askAtNanos;
  private boolean hasRetreated;
  private boolean wasLong;
  private double eventsMissed;
  private int trialWindows;
  private double trialAnswers;
  private double trialNanos;
  private long holdNanos = FIRST_HOLD_NANOS;

  /**
   * At light load.
   *
   * @param leastSaving as {@link PaceJudge} has it
   * @param seed for the order in which pauses are tried
   */
  PaceController(PaceSettings settings, double leastSaving, long seed) {
    budgetNanos = settings.latencyBudget().toNanos();
    judge = new PaceJudge(leastSaving, seed);
  }

  /** Begins anew. A verdict on pauses holds on, if it was found for the same budget. */
  void reset(PaceSettings settings) {
    long nanos = settings.latencyBudget().toNanos();
    if (nanos != budgetNanos) {
      judge.reset();
    }
    budgetNanos = nanos;
    isResting = false;
    holdNanos = FIRST_HOLD_NANOS;
    lateNanos = 0;
    waitsTwice = false;
    stop(PaceReason.LIGHT_LOAD);
  }

  /** The interval now; zero for none. */
  long intervalNanos() {
    return level == 0 ? 0 : capNanos() >> (TOP - level);
  }

  PaceReason reason() {
    return reason;
  }

  /** What pauses were found to save; null before the first trial. */
  @Nullable PaceJudgement judgement() {
    return judge.judgement();
  }

  /** What a poll was last seen to cost without pauses, in nanoseconds of processor time. */
  long pollCostNanos() {
    return (long) pollCostNanos;
  }

  /** How long a window should be. */
  long windowNanos() {
    return Math.max(LEAST_WINDOW_NANOS, 4 * budgetNanos);
  }

  private long capNanos() {
    long cap = budgetNanos - Math.min((long) lateNanos, budgetNanos / 4);
    return waitsTwice ? cap / 2 : cap;
  }

  /** A pause ended so much later than it was meant to. */
  void late(long nanos) {
    lateNanos += (Math.max(nanos, 0) - lateNanos) * TURN_SMOOTHING;
  }

  /**
   * A turn is over.
   *
   * @param events its poll brought
   * @param workNanos it took, from the return of the poll
   * @param isAfterPause whether there was a pause before its poll
   * @param waitNanos its poll took to return
   * @return whether the interval fell to zero, so that what was measured before has no meaning now
   */
  boolean turn(int events, long workNanos, boolean isAfterPause, long waitNanos) {
    if (!isPacing) {
      return false;
    }
    if (isAfterPause && level > 0) {
      boolean isEmpty = waitNanos >= EMPTY_WAIT_NANOS && events <= EMPTY_EVENTS;
      eventsMissed = isEmpty ? eventsMissed + eventsPerNano * intervalNanos() : 0;
      if (eventsMissed >= EVENTS_MISSED) {
        stop(PaceReason.LIGHT_LOAD);
        return true;
      }
    }
    boolean isLong =
        workNanos > GROWTH * turnWorkNanos + intervalNanos() / 2.0
            || events > GROWTH * turnEvents + BURST_EVENTS;
    boolean hasBacklog = isLong && wasLong;
    if (!isLong || wasLong) {
      turnWorkNanos += (workNanos - turnWorkNanos) * TURN_SMOOTHING;
      turnEvents += (events - turnEvents) * TURN_SMOOTHING;
    }
    wasLong = isLong;
    if (hasBacklog) {
      level = Math.max(0, level - 2);
      hasRetreated = true;
      reason = PaceReason.BACKLOG;
    }
    return false;
  }

  /** A window is over. */
  void window(LoadSample load, long nowNanos) {
    judge.saw(load, isPacing, nowNanos);
    smooth(load);
    if (isPacing ? !judge.allows(nowNanos) : judge.forbids()) {
      stop(judge.reason());
    } else if (isPacing) {
      steer(load, nowNanos);
    } else {
      consider(load, nowNanos);
    }
  }

  /** Learns how many requests wait for an origin's answer too, and whether they feel it. */
  private void watchForwarded(LoadSample load) {
    answers = answers * LONG_MEMORY + load.requests();
    forwarded = forwarded * LONG_MEMORY + load.forwarded();
    forwardedNanos = forwardedNanos * LONG_MEMORY + load.forwardedNanos();
    double share = waitsTwice ? FORWARDED_NO_MORE : FORWARDED_TO_COUNT;
    double slow = SLOW_BUDGETS * budgetNanos * (waitsTwice ? 2 : 1);
    waitsTwice = forwarded > share * answers && forwardedNanos < slow * forwarded;
  }

  private void smooth(LoadSample load) {
    watchForwarded(load);
    double weight = hasMeans ? SMOOTHING : 1;
    eventsPerNano += (load.eventsPerNano() - eventsPerNano) * weight;
    utilisation += (load.utilisation() - utilisation) * weight;
    if (!isPacing) {
      pollCostNanos += (load.pollCostNanos() - pollCostNanos) * weight;
    }
    hasMeans = true;
  }

  private void consider(LoadSample load, long nowNanos) {
    unpacedAnswers = unpacedAnswers * MEMORY + load.achieved();
    unpacedNanos = unpacedNanos * MEMORY + load.elapsedNanos();
    if (isResting && nowNanos - restUntilNanos < 0) {
      return;
    }
    isResting = false;
    if (gathered() < GATHERED_TO_BEGIN || utilisation < UTILISATION_TO_BEGIN) {
      reasonsToBegin = 0;
      lightWindows++;
      reason = PaceReason.LIGHT_LOAD;
      return;
    }
    if (utilisation < HIGH_UTILISATION && gain(load) < LEAST_GAIN) {
      reasonsToBegin = 0;
      reason = PaceReason.NO_GAIN;
      if (++lightWindows >= WINDOWS_TO_IDLE) {
        rest(nowNanos + FIRST_HOLD_NANOS);
      }
      return;
    }
    lightWindows = 0;
    if (++reasonsToBegin >= WINDOWS_TO_BEGIN && judge.allows(nowNanos)) {
      begin(load, nowNanos);
    }
  }

  /** Whether it has been clear for a while that no pause would save anything, or none may be. */
  boolean isIdle() {
    return lightWindows >= WINDOWS_TO_IDLE || judge.forbids();
  }

  /** Windows follow again after a time without: what was known of the load is old. */
  void measure() {
    lightWindows = 0;
    hasMeans = false;
    unpacedAnswers = 0;
    unpacedNanos = 0;
  }

  /** Whether a load that was only counted may be one to pace. */
  boolean isWorthMeasuring(LoadSample load, long nowNanos) {
    judge.saw(load, false, nowNanos);
    if (judge.forbids()) {
      reason = judge.reason();
      return false;
    }
    if (isResting && nowNanos - restUntilNanos < 0) {
      return false;
    }
    reason = PaceReason.LIGHT_LOAD;
    return load.eventsPerNano() * capNanos() >= GATHERED_TO_BEGIN
        && load.utilisation() >= UTILISATION_TO_BEGIN;
  }

  /** Events that a pause of the longest interval gathers. */
  private double gathered() {
    return eventsPerNano * capNanos();
  }

  /** The share of an event's processor time that the longest interval would save. */
  private double gain(LoadSample load) {
    double cost = load.cpuNanosPerEvent();
    if (cost == 0) {
      return 0;
    }
    double pollsPerEvent = (double) load.polls() / load.events();
    return pollCostNanos * (pollsPerEvent - 2 / (1 + gathered())) / cost;
  }

  private void begin(LoadSample load, long nowNanos) {
    isPacing = true;
    level = 1;
    while (level < TOP && eventsPerNano * intervalNanos() < EVENTS_OF_FIRST_STEP) {
      level++;
    }
    reason = PaceReason.CLIMBING;
    askAtNanos = nowNanos + ASK_EVERY_NANOS;
    hasRetreated = false;
    wasLong = false;
    eventsMissed = 0;
    trialWindows = 0;
    trialAnswers = 0;
    trialNanos = 0;
    turnEvents = load.eventsPerPoll();
    turnWorkNanos = load.polls() == 0 ? 0 : (double) load.busyNanos() / load.polls();
  }

  private void steer(LoadSample load, long nowNanos) {
    if (gathered() < GATHERED_TO_STAY || utilisation < UTILISATION_TO_STAY) {
      if (trialWindows < TRIAL_WINDOWS) {
        stopFor(nowNanos);
      } else {
        stop(PaceReason.LIGHT_LOAD);
      }
    } else if (nowNanos - askAtNanos >= 0) {
      stop(PaceReason.ASKING_AGAIN);
      rest(nowNanos + ASK_FOR_NANOS);
    } else if (hasRetreated) {
      hasRetreated = false;
    } else if (level < TOP) {
      level++;
      reason = level == TOP ? PaceReason.AT_BUDGET : PaceReason.CLIMBING;
    } else if (trialWindows < TRIAL_WINDOWS && fellInTrial(load)) {
      stopFor(nowNanos);
    } else {
      reason = turnWorkNanos >= intervalNanos() ? PaceReason.SATURATED : PaceReason.AT_BUDGET;
    }
  }

  private boolean fellInTrial(LoadSample load) {
    trialWindows++;
    trialAnswers += load.achieved();
    trialNanos += load.elapsedNanos();
    if (trialWindows < TRIAL_WINDOWS || unpacedAnswers == 0) {
      return false;
    }
    double before = unpacedAnswers / unpacedNanos;
    double now = trialAnswers / trialNanos;
    double chance = DEVIATIONS * Math.sqrt(1 / unpacedAnswers + 1 / Math.max(1, trialAnswers));
    boolean fell = now < before * (1 - LEAST_FALL - chance);
    if (!fell) {
      holdNanos = FIRST_HOLD_NANOS;
    }
    return fell;
  }

  /** Whoever asks waits for us. */
  private void stopFor(long nowNanos) {
    stop(PaceReason.CLOSED_LOOP);
    rest(nowNanos + holdNanos);
    holdNanos = Math.min(2 * holdNanos, LONGEST_HOLD_NANOS);
  }

  private void stop(PaceReason why) {
    isPacing = false;
    level = 0;
    reason = why;
    reasonsToBegin = 0;
    hasMeans = false;
    lightWindows = 0;
    unpacedAnswers = 0;
    unpacedNanos = 0;
  }

  private void rest(long untilNanos) {
    isResting = true;
    restUntilNanos = untilNanos;
  }
}
