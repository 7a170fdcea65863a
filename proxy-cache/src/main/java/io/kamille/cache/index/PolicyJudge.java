package io.kamille.cache.index;

import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.core.loop.WallClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which policy is the better one, by what each would hit of the last requests. Any thread, under
 * its own monitor.
 */
public final class PolicyJudge {

  /*
   * Both policies run all the time as ghosts, on a sample of the keys: a 64th, or more where that
   * would leave a ghost of less than 32 MiB, where one large object would tell too much. A request
   * counts for a ghost when it is known what it asked for weighs: at once for a hit, else when it
   * is stored. What is never stored counts for neither.
   *
   * The estimates are of the last eight buckets of sampled requests. The other policy is chosen
   * when it has hit 0.3 points more of them (of requests, not of octets: a hit is an answer that
   * does not wait for an origin), never before all eight buckets are full, and not again before
   * eight new ones are. Both ghosts see the same requests, so chance moves the difference far less
   * than the ratios: if they disagree about one request in twenty, by 0.17 points (one standard
   * deviation).
   *
   * LRU does what its ghost does from the first request on. W-TinyLFU begins with a small window
   * and adapts it, which takes longer than eight buckets. So under LRU the ghost of W-TinyLFU
   * begins anew every eight buckets, too: it shows what a switch would bring, not what years of
   * W-TinyLFU would.
   */
  private static final int BUCKETS = 8;
  private static final int BUCKET_REQUESTS = 2048;
  private static final double MARGIN = 0.003;
  private static final int SAMPLE_SHIFT_MAXIMUM = 6;
  private static final double PERCENT = 100;
  private static final String FIRST_REASON = "the choice at start";

  private final WallClock clock;
  private final long leastUnits;
  private final int sampleShift;
  private final long capacityUnits;
  private final Ghost[] sides = new Ghost[Policy.values().length];

  private long requests;
  private long bucketsSinceSwitch;

  private PolicyChoice choice;
  private Policy policy;
  private long sinceEpochSeconds;
  private long switches;
  private String reason;

  private @Nullable WhatIf whatIf;
  private @Nullable Forecast lastForecast;

  /**
   * Both policies for an index of that size.
   *
   * @param leastUnits what a ghost should hold at least
   */
  PolicyJudge(PolicyChoice choice, long maximumUnits, long leastUnits, WallClock clock) {
    this.choice = choice;
    this.leastUnits = leastUnits;
    this.sampleShift = sampleShift(maximumUnits);
    this.capacityUnits = maximumUnits;
    this.policy = choice.first();
    this.clock = clock;
    this.sinceEpochSeconds = clock.epochSeconds();
    this.reason = FIRST_REASON;
    for (Policy each : Policy.values()) {
      sides[each.ordinal()] = new Ghost(each, maximumUnits >> sampleShift, BUCKETS);
    }
  }

  private int sampleShift(long maximumUnits) {
    int shift = SAMPLE_SHIFT_MAXIMUM;
    while (shift > 0 && maximumUnits >> shift < leastUnits) {
      shift--;
    }
    return shift;
  }

  /** The bits that are zero in the hash of a key of the sample; always the same. */
  long sampleMask() {
    return (1L << sampleShift) - 1;
  }

  /** Takes what was noted since, and says which policy the index should have. */
  synchronized Policy hear(RequestSamples samples) {
    samples.tell(this::hear);
    endWatchInTime();
    return advice();
  }

  /**
   * Something happened with a key of the sample. A request counts once: when one of the ghosts
   * hits, or when it is known what it weighs and none of them knows it.
   */
  synchronized void hear(Event event, long hash, int units) {
    Long boxed = hash;
    Integer weight = units;
    int counted = 0;
    for (Ghost side : sides) {
      counted += side.hear(event, boxed, weight) ? 1 : 0;
    }
    if (whatIf != null) {
      whatIf.hear(event, boxed, weight);
    }
    if (event == Event.STORED ? counted == sides.length : counted > 0) {
      count();
    }
  }

  /** Watches for so long what other amounts of memory would hit, anew; 0 ends that. */
  public synchronized void watch(long seconds) {
    if (seconds == 0) {
      endWatch();
    } else {
      long now = clock.epochSeconds();
      whatIf = new WhatIf(capacityUnits, sampleShift, now, now + seconds);
      lastForecast = null;
    }
  }

  /** What was counted stays. */
  private void endWatch() {
    if (whatIf != null) {
      lastForecast = whatIf.forecast(false);
      whatIf = null;
    }
  }

  private void endWatchInTime() {
    if (whatIf != null && whatIf.isOver(clock.epochSeconds())) {
      endWatch();
    }
  }

  /** What they would have hit, while or after that was watched; null if it never was. */
  public synchronized @Nullable Forecast forecast() {
    endWatchInTime();
    return whatIf == null ? lastForecast : whatIf.forecast(true);
  }

  private void count() {
    requests++;
    if (requests % BUCKET_REQUESTS == 0) {
      bucketsSinceSwitch++;
      if (policy == Policy.LRU && bucketsSinceSwitch % BUCKETS == 0) {
        sides[Policy.TINYLFU.ordinal()].beginAnew();
      }
      for (Ghost side : sides) {
        side.beginBucket();
      }
    }
  }

  /** The operator wants that from now on. */
  synchronized void choose(PolicyChoice choice) {
    this.choice = choice;
  }

  /** The policy that the index should have. */
  synchronized Policy advice() {
    if (choice != PolicyChoice.AUTO) {
      return choice.first();
    }
    Policy other = policy == Policy.LRU ? Policy.TINYLFU : Policy.LRU;
    return bucketsSinceSwitch >= BUCKETS && gain(other) > MARGIN ? other : policy;
  }

  private double gain(Policy other) {
    return sides[other.ordinal()].objectHitRatio() - sides[policy.ordinal()].objectHitRatio();
  }

  /** The index has that policy now. */
  synchronized void switched(Policy chosen) {
    reason = choice == PolicyChoice.AUTO ? reasonFor(chosen) : "the setting says so";
    policy = chosen;
    switches++;
    sinceEpochSeconds = clock.epochSeconds();
    bucketsSinceSwitch = 0;
    sides[Policy.TINYLFU.ordinal()].beginAnew();
  }

  private String reasonFor(Policy chosen) {
    return String.format(
        Locale.ROOT,
        "%s would have hit %.1f %% of %d sampled requests, %.1f points more than %s",
        chosen.token(),
        sides[chosen.ordinal()].objectHitRatio() * PERCENT,
        sampledRequests(),
        gain(chosen) * PERCENT,
        policy.token());
  }

  private long sampledRequests() {
    return Math.min(requests, (long) (BUCKETS - 1) * BUCKET_REQUESTS + requests % BUCKET_REQUESTS);
  }

  /** Which policy chooses what to forget, and why. Not for the path of a request. */
  public synchronized PolicySnapshot snapshot() {
    List<Estimate> estimates = new ArrayList<>();
    for (Policy each : Policy.values()) {
      Ghost side = sides[each.ordinal()];
      estimates.add(new Estimate(each, side.objectHitRatio(), side.byteHitRatio()));
    }
    return new PolicySnapshot(
        choice,
        policy,
        sinceEpochSeconds,
        reason,
        switches,
        List.copyOf(estimates),
        sampledRequests(),
        1.0 / (1L << sampleShift));
  }
}
