package io.kamille.cache.tiers.peak;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decides by what windows of about a second show whether requests leave the disk alone. No clock,
 * no I/O. Confined to its user.
 */
final class PeakDetector {

  /*
   * Evidence of a peak is a window in which (a) requests waited longer for the disk than the origin
   * takes, or will with what is before them at its end, and twice as long as for the quiet disk:
   * such a hit is worth nothing, and it is the load that makes it so; or (b) they waited eight
   * times as long as for the quiet disk and sixteen of them at a time, four for each thread: more
   * is asked of the disk than it can do, whatever the origin takes; or (c) many reads were under
   * way and none ended. A disk that is slower than the origin even when it is quiet is no peak: it
   * still spares the origin the work.
   *
   * Three such windows in a row begin a peak; two if far more requests come than in the last
   * minutes, or if the second wait is half as long again as the first: what is too much at once is
   * over by then, what is too much grows. The rate alone begins none.
   *
   * Without reads the disk shows nothing. So after ten windows a few reads are let through, and
   * four times as many after each window in which they were quick, until nothing has to be held
   * back: then the peak is over. If they are slow the disk is left alone again, for twice as long
   * as before, up to 160 windows; a peak that comes back within a minute is one of those, too. What
   * is neither quick nor slow changes nothing, so that the border is not crossed to and fro; five
   * windows of it count as slow.
   *
   * While requests want more from the disk than four fifths of what it did when it fell behind, or
   * can do by its quiet time, the trial is put off, up to 160 windows: it would end as the last
   * one.
   *
   * A window that is much too long says nothing: nobody came, or the machine stood still.
   */
  private static final int LEAST_READS = 8;
  private static final double WORTHLESS = 2;
  private static final double OVERLOAD = 8;
  private static final double OVERLOAD_QUEUE = 16;
  private static final double GROWTH = 1.5;
  private static final double TOO_MUCH = 0.8;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double QUICK = 2;
  private static final double QUICK_QUEUE = 8;
  private static final double QUICK_SHARE_OF_ORIGIN = 0.5;

  private static final int WINDOWS_TO_ENTER = 3;
  private static final int WINDOWS_TO_ENTER_SOON = 2;
  private static final int QUIET_WINDOWS = 10;
  private static final int QUIET_WINDOWS_LIMIT = 160;
  private static final int RELAPSE_WINDOWS = 60;
  private static final int UNDECIDED_LIMIT = 5;
  private static final int FIRST_TRIAL = 4;
  private static final int TRIAL_GROWTH = 4;
  private static final int TRIAL_LIMIT = 1 << 20;

  static final long WINDOW_NANOS = 1_000_000_000L;
  private static final long TOO_LONG_NANOS = 5 * WINDOW_NANOS;
  private static final double NANOS_PER_MILLI = 1e6;

  private enum Phase {
    /** The operator wants no peak mode. */
    OFF,
    NORMAL,
    /** A peak by evidence; the disk is left alone. */
    QUIET,
    /** The same; a few reads are let through. */
    TRIAL,
    /** A peak by order. */
    HELD
  }

  private final PeakBaseline baseline = new PeakBaseline();
  private Phase phase = Phase.NORMAL;
  private String reason = "the disk keeps up";
  private int slowWindows;
  private double slowNanos;
  private double busyReadsPerSecond;
  private int quietWindows = QUIET_WINDOWS;
  private int windowsInPhase = RELAPSE_WINDOWS;
  private int undecided;
  private int trialReads;

  /** Follows the operator. */
  void follow(PeakChoice choice) {
    if (choice == PeakChoice.OFF) {
      become(Phase.OFF, "switched off");
    } else if (choice == PeakChoice.FORCED) {
      become(Phase.HELD, "forced");
    } else if (phase == Phase.OFF) {
      quietWindows = QUIET_WINDOWS;
      become(Phase.NORMAL, "switched on; the disk keeps up as far as is known");
    } else if (phase == Phase.HELD) {
      quietWindows = QUIET_WINDOWS;
      beginTrial("no longer " + reason + "; trying the disk");
    }
  }

  /** Takes in a window, after {@link #follow}. */
  void take(PeakWindow window) {
    baseline.learn(window);
    windowsInPhase++;
    boolean isTooLong = window.nanos() > TOO_LONG_NANOS;
    switch (phase) {
      case OFF, HELD -> {}
      case NORMAL -> watch(window, isTooLong ? null : slowness(window, LEAST_READS));
      case QUIET -> {
        if (isTooLong || isTimeToTry(window)) {
          beginTrial(reason);
        }
      }
      case TRIAL -> {
        if (!isTooLong) {
          judge(window);
        }
      }
    }
  }

  private void watch(PeakWindow window, @Nullable String slowness) {
    if (slowness == null) {
      baseline.learnDisk(window);
    }
    double waitNanos = slowness == null ? 0 : window.expectedReadNanos();
    boolean isGrowing = slowNanos > 0 && waitNanos >= GROWTH * slowNanos;
    slowNanos = waitNanos;
    slowWindows = slowness == null ? 0 : slowWindows + 1;
    int enough = isGrowing || baseline.isSurge() ? WINDOWS_TO_ENTER_SOON : WINDOWS_TO_ENTER;
    if (slowness != null && slowWindows >= enough) {
      boolean isRelapse = windowsInPhase < RELAPSE_WINDOWS;
      quietWindows = isRelapse ? longer(quietWindows) : QUIET_WINDOWS;
      busyReadsPerSecond = window.readsPerSecond();
      become(Phase.QUIET, slowness);
    }
  }

  private boolean isTimeToTry(PeakWindow window) {
    double able = Math.max(busyReadsPerSecond, NANOS_PER_SECOND / baseline.quietReadNanos());
    boolean isTooMuch = window.wantedPerSecond() > TOO_MUCH * able;
    return windowsInPhase >= (isTooMuch ? QUIET_WINDOWS_LIMIT : quietWindows);
  }

  private static int longer(int windows) {
    return Math.min(windows * 2, QUIET_WINDOWS_LIMIT);
  }

  private void beginTrial(String why) {
    become(Phase.TRIAL, why);
    trialReads = FIRST_TRIAL;
    undecided = 0;
  }

  private void judge(PeakWindow window) {
    String slowness = slowness(window, 1);
    baseline.learnDisk(window);
    if (slowness != null) {
      fail(slowness);
    } else if (isQuick(window)) {
      pass(window);
    } else if (++undecided >= UNDECIDED_LIMIT) {
      fail("disk reads are not quick again" + figures(window));
    }
  }

  private void pass(PeakWindow window) {
    undecided = 0;
    if (window.skippedReads() == 0) {
      become(Phase.NORMAL, "the disk keeps up again" + figures(window));
    } else {
      trialReads = Math.min(trialReads * TRIAL_GROWTH, TRIAL_LIMIT);
    }
  }

  private void fail(String why) {
    quietWindows = longer(quietWindows);
    become(Phase.QUIET, why);
  }

  private void become(Phase next, String why) {
    if (phase != next) {
      phase = next;
      windowsInPhase = 0;
      slowWindows = 0;
      slowNanos = 0;
    }
    reason = why;
  }

  /** Why a window is evidence of a peak, or null. */
  private @Nullable String slowness(PeakWindow window, int leastReads) {
    if (window.reads() == 0 && window.underWay() >= LEAST_READS) {
      return "no disk read ended, " + window.underWay() + " are under way";
    }
    double read = window.expectedReadNanos();
    double quiet = baseline.quietReadNanos();
    double origin = baseline.originNanos();
    double queue = Math.max(window.queue(), (double) window.underWay());
    boolean isOverloaded = read >= OVERLOAD * quiet && queue >= OVERLOAD_QUEUE;
    boolean isWorthless = origin > 0 && read > origin && read >= WORTHLESS * quiet;
    return window.reads() >= leastReads && (isOverloaded || isWorthless)
        ? "the disk is behind" + figures(window)
        : null;
  }

  /** Whether reads that were let through, if any were wanted, show that the disk has recovered. */
  private boolean isQuick(PeakWindow window) {
    if (window.reads() == 0) {
      return window.underWay() == 0 && window.skippedReads() == 0;
    }
    double read = window.readNanos();
    return window.queue() < QUICK_QUEUE
        && (read <= QUICK * baseline.quietReadNanos()
            || read <= QUICK_SHARE_OF_ORIGIN * baseline.originNanos());
  }

  private String figures(PeakWindow window) {
    return window.reads() == 0
        ? ""
        : String.format(
            Locale.ROOT,
            ": a read took %.1f ms%s (%.1f ms when quiet; the origin %s), %.1f at a time",
            window.readNanos() / NANOS_PER_MILLI,
            next(window),
            baseline.quietReadNanos() / NANOS_PER_MILLI,
            origin(),
            window.queue());
  }

  private static String next(PeakWindow window) {
    double nanos = window.nextReadNanos();
    return nanos > window.readNanos()
        ? String.format(Locale.ROOT, " and the next would take %.1f ms", nanos / NANOS_PER_MILLI)
        : "";
  }

  private String origin() {
    double nanos = baseline.originNanos();
    return nanos > 0
        ? String.format(Locale.ROOT, "%.1f ms", nanos / NANOS_PER_MILLI)
        : "is not known";
  }

  TierMode mode() {
    return phase == Phase.OFF || phase == Phase.NORMAL ? TierMode.NORMAL : TierMode.PEAK;
  }

  /** Why the mode is what it is, in words. */
  String reason() {
    return reason;
  }

  /** How many reads are let through in the next window of a peak. */
  int trialReads() {
    return phase == Phase.TRIAL ? trialReads : 0;
  }

  PeakBaseline baseline() {
    return baseline;
  }
}
