package io.kamille.cache.tiers.peak;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Whether requests may use the disk at this moment; counts what a {@link PeakDetector} decides by.
 * Any thread.
 */
public final class PeakWatch {

  /*
   * There is no thread for it: whoever comes to the disk and finds that a window is over hands it
   * to the detector. Loops only try the lock; one that finds it taken goes by the mode as it was.
   * The operator's word, and what operators see, wait for it: it is held for microseconds.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");

  private static final MetricDescriptor MODE =
      MetricDescriptor.gauge(
          "kamille_cache_tier_mode",
          "1 for the mode that requests use the tiers in, 0 for the other: normal (memory and disk)"
              + " or peak (memory alone).",
          "mode");

  private static final MetricDescriptor TRANSITIONS =
      MetricDescriptor.counter(
          "kamille_cache_tier_transitions_total",
          "Changes of that mode, by the mode that began.",
          "mode");

  private static final MetricDescriptor SKIPPED =
      MetricDescriptor.counter(
          "kamille_cache_peak_skipped_total",
          "Disk accesses that peak mode saved. read: a request for a response that seems to be"
              + " there was a miss. write: a response was not written.",
          "kind");

  private final WallClock clock;
  private final LongSupplier requests;
  private final LongAdder waitNanos = new LongAdder();
  private final LongAdder serviceNanos = new LongAdder();
  private final LongAdder begun = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final LongAdder origins = new LongAdder();
  private final LongAdder originNanos = new LongAdder();
  private final LongAdder skippedReads = new LongAdder();
  private final LongAdder skippedWrites = new LongAdder();
  private final LongAdder peaks = new LongAdder();
  private final LongAdder normals = new LongAdder();

  /** Reads that may still be let through in this window of a peak. */
  private final AtomicInteger trial = new AtomicInteger();

  private final ReentrantLock judging = new ReentrantLock();

  @GuardedBy("judging")
  private final PeakDetector detector = new PeakDetector();

  @GuardedBy("judging")
  private PeakChoice choice;

  @GuardedBy("judging")
  private PeakWindow last;

  @GuardedBy("judging")
  private PeakWindow lastWindow = new PeakWindow(0, 0, 0, 0, 0, 0, 0, 0, 0);

  @GuardedBy("judging")
  private PeakWindow lastWithReads = lastWindow;

  @GuardedBy("judging")
  private long sinceEpochSeconds;

  /** Written by who looks, read by all: when the window is over. */
  private volatile long dueNanos;

  /** Written by who looks, read by all. */
  private volatile TierMode mode = TierMode.NORMAL;

  /**
   * A watch in normal mode, unless the operator says otherwise.
   *
   * @param requests how many requests have come; asked from any thread
   */
  public PeakWatch(PeakChoice choice, LongSupplier requests, WallClock clock) {
    this.choice = choice;
    this.requests = requests;
    this.clock = clock;
    this.sinceEpochSeconds = clock.epochSeconds();
    this.last = totals();
    this.dueNanos = last.nanos() + PeakDetector.WINDOW_NANOS;
    choose(choice);
  }

  /** All since the start, with the present time for how long that is. */
  private PeakWindow totals() {
    long over = ended.sum();
    long left = over + refused.sum();
    return new PeakWindow(
        clock.nanos(),
        over,
        waitNanos.sum(),
        serviceNanos.sum(),
        begun.sum() - left,
        skippedReads.sum(),
        origins.sum(),
        originNanos.sum(),
        requests.getAsLong());
  }

  // On the way of requests

  /** Whether a request may have the disk read; counts it if not. */
  public boolean mayRead() {
    judgeIfDue();
    if (mode == TierMode.NORMAL || (trial.get() > 0 && trial.getAndDecrement() > 0)) {
      return true;
    }
    skippedReads.increment();
    return false;
  }

  /** Whether a response may be written; counts it if not. */
  public boolean mayWrite() {
    judgeIfDue();
    if (mode == TierMode.NORMAL) {
      return true;
    }
    skippedWrites.increment();
    return false;
  }

  /** A read was asked for; says when that was. */
  public long begin() {
    begun.increment();
    return clock.nanos();
  }

  /** It will not be run. */
  public void refuse() {
    refused.increment();
  }

  /** A thread runs it; says since when. */
  public long run() {
    return clock.nanos();
  }

  /** It has ended. */
  public void end(long beginNanos, long runNanos) {
    waitNanos.add(runNanos - beginNanos);
    serviceNanos.add(clock.nanos() - runNanos);
    ended.increment();
  }

  /** An origin began its answer after that time. */
  public void originAnswered(long nanos) {
    originNanos.add(nanos);
    origins.increment();
  }

  private void judgeIfDue() {
    if (clock.nanos() - dueNanos >= 0 && judging.tryLock()) {
      try {
        judge();
      } finally {
        judging.unlock();
      }
    }
  }

  // What is decided

  @GuardedBy("judging")
  private void judge() {
    long now = clock.nanos();
    if (now - dueNanos < 0) {
      return;
    }
    dueNanos = now + PeakDetector.WINDOW_NANOS;
    PeakWindow totals = totals();
    lastWindow = totals.since(last);
    lastWithReads = lastWindow.reads() > 0 ? lastWindow : lastWithReads;
    last = totals;
    detector.follow(choice);
    detector.take(lastWindow);
    adopt();
  }

  @GuardedBy("judging")
  private void adopt() {
    trial.set(detector.trialReads());
    TierMode next = detector.mode();
    if (next != mode) {
      mode = next;
      sinceEpochSeconds = clock.epochSeconds();
      (next == TierMode.PEAK ? peaks : normals).increment();
      LOG.log(
          Level.INFO,
          next == TierMode.PEAK
              ? "requests leave the disk alone (peak mode): {0}"
              : "requests use the disk again (normal mode): {0}",
          detector.reason());
    }
  }

  // What an operator does and sees

  /** Goes by another choice from now on. */
  public void choose(PeakChoice other) {
    judging.lock();
    try {
      choice = other;
      detector.follow(choice);
      adopt();
    } finally {
      judging.unlock();
    }
  }

  /** What the operator chose. */
  public PeakChoice choice() {
    judging.lock();
    try {
      return choice;
    } finally {
      judging.unlock();
    }
  }

  /** Which tiers requests use. */
  public TierMode mode() {
    return mode;
  }

  /** The mode, and what is known about it. */
  public PeakSnapshot snapshot() {
    judging.lock();
    try {
      judge();
      PeakBaseline baseline = detector.baseline();
      return new PeakSnapshot(
          choice,
          mode,
          sinceEpochSeconds,
          detector.reason(),
          detector.trialReads(),
          lastWithReads.readNanos(),
          lastWithReads.queue(),
          baseline.knowsQuietRead() ? baseline.quietReadNanos() : 0,
          baseline.originNanos(),
          lastWindow.requestsPerSecond(),
          baseline.requestsPerSecond(),
          skippedReads.sum(),
          skippedWrites.sum());
    } finally {
      judging.unlock();
    }
  }

  /** Tells of the mode in {@code registry}. */
  public void register(MetricRegistry registry) {
    for (TierMode each : TierMode.values()) {
      registry.gauge(MODE, () -> mode == each ? 1 : 0, each.token());
    }
    registry.counting(TRANSITIONS, normals::sum, TierMode.NORMAL.token());
    registry.counting(TRANSITIONS, peaks::sum, TierMode.PEAK.token());
    registry.counting(SKIPPED, skippedReads::sum, "read");
    registry.counting(SKIPPED, skippedWrites::sum, "write");
  }
}
