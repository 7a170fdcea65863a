package io.kamille.cache.index;

import io.kamille.cache.index.PolicySnapshot.Estimate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Which policy is the better one, by what each would hit of the last requests. Any thread, but for
 * {@link #samples} under its own monitor.
 */
final class PolicyJudge {

  /*
   * Both policies run all the time as ghosts, on a sample of the keys: a 64th, or more where that
   * would leave a ghost of less than 32 MiB, where one large object would tell too much. A request counts
   * for a ghost when it is known what it asked for weighs: at once for a hit, else when it is
   * stored. What is never stored counts for neither.
   *
   * The estimates are of the last eight buckets of sampled requests. The other policy is chosen when it
   * has hit 0.3 points more of them (of requests, not of octets: a hit is an answer that does not wait
   * for an origin), never before all eight buckets are full, and not again before eight new ones are.
   * Both ghosts see the same requests, so chance moves the difference far less than the ratios: if
   * they disagree about one request in twenty, by 0.17 points (one standard deviation).
   *
   * LRU does what its ghost does from the first request on. W-TinyLFU begins with a small window and
   * adapts it, which takes longer than eight buckets. So under LRU the ghost of W-TinyLFU begins anew
   * every eight buckets, too: it shows what a switch would bring, not what years of W-TinyLFU would.
   */
  private static final int BUCKETS = 8;
  private static final int BUCKET_REQUESTS = 2048;
  private static final double MARGIN = 0.003;
  private static final int SAMPLE_SHIFT_MAXIMUM = 6;
  private static final double PERCENT = 100;
  private static final String FIRST_REASON = "the choice at start";

  private final long leastUnits;
  private final int sampleShift;
  private final Side[] sides = new Side[Policy.values().length];

  private int bucket;
  private long requests;
  private long bucketsSinceSwitch;

  private PolicyChoice choice;
  private Policy policy;
  private long sinceEpochSeconds;
  private long switches;
  private String reason;

  /**
   * Both policies for an index of that size.
   *
   * @param leastUnits what a ghost should hold at least
   */
  PolicyJudge(PolicyChoice choice, long maximumUnits, long leastUnits, long nowEpochSeconds) {
    this.choice = choice;
    this.leastUnits = leastUnits;
    this.sampleShift = sampleShift(maximumUnits);
    this.policy = choice.first();
    this.sinceEpochSeconds = nowEpochSeconds;
    this.reason = FIRST_REASON;
    for (Policy each : Policy.values()) {
      sides[each.ordinal()] = new Side(each, maximumUnits >> sampleShift);
    }
  }

  private int sampleShift(long maximumUnits) {
    int shift = SAMPLE_SHIFT_MAXIMUM;
    while (shift > 0 && maximumUnits >> shift < leastUnits) {
      shift--;
    }
    return shift;
  }

  /** One ghost and what it would have hit. */
  private static final class Side {

    private final Ghost ghost;
    private final long[] requests = new long[BUCKETS];
    private final long[] hits = new long[BUCKETS];
    private final long[] units = new long[BUCKETS];
    private final long[] hitUnits = new long[BUCKETS];

    Side(Policy policy, long maximumUnits) {
      this.ghost = Ghost.of(policy, maximumUnits);
    }

    boolean use(Long hash, int bucket) {
      int weight = ghost.use(hash);
      if (weight > 0) {
        requests[bucket]++;
        units[bucket] += weight;
        hits[bucket]++;
        hitUnits[bucket] += weight;
      }
      return weight > 0;
    }

    void miss(Long hash, Integer weight, int bucket) {
      requests[bucket]++;
      units[bucket] += weight;
      ghost.store(hash, weight);
    }

    void begin(int bucket) {
      requests[bucket] = 0;
      hits[bucket] = 0;
      units[bucket] = 0;
      hitUnits[bucket] = 0;
    }

    double objectHitRatio() {
      return ratio(hits, requests);
    }

    double byteHitRatio() {
      return ratio(hitUnits, units);
    }

    private static double ratio(long[] parts, long[] wholes) {
      return (double) sum(parts) / Math.max(1, sum(wholes));
    }
  }

  private static long sum(long[] counts) {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  /** Whether a key with that hash is one of the sample; any thread. */
  boolean samples(long hash) {
    return (hash & (1L << sampleShift) - 1) == 0;
  }

  /** Takes what was noted since, and says which policy the index should have. */
  synchronized Policy hear(RequestSamples samples) {
    samples.tell(this);
    return advice();
  }

  /** Something of the sample was found, which weighs that much. */
  synchronized void found(long hash, int units) {
    Long boxed = hash;
    Integer weight = units;
    for (Side side : sides) {
      if (!side.use(boxed, bucket)) {
        side.miss(boxed, weight, bucket);
      }
    }
    count();
  }

  /** Something of the sample was asked for and not found. */
  synchronized void missed(long hash) {
    Long boxed = hash;
    boolean isHit = false;
    for (Side side : sides) {
      isHit |= side.use(boxed, bucket);
    }
    if (isHit) {
      count();
    }
  }

  /** Something of the sample that was not found is stored, or could have been. */
  synchronized void stored(long hash, int units) {
    Long boxed = hash;
    Integer weight = units;
    boolean isNew = true;
    for (Side side : sides) {
      if (side.ghost.weigh(boxed, weight)) {
        isNew = false;
      } else {
        side.miss(boxed, weight, bucket);
      }
    }
    if (isNew) {
      count();
    }
  }

  /** Something of the sample was removed, and not for want of room. */
  synchronized void removed(long hash) {
    for (Side side : sides) {
      side.ghost.forget(hash);
    }
  }

  private void count() {
    requests++;
    if (requests % BUCKET_REQUESTS == 0) {
      bucketsSinceSwitch++;
      if (policy == Policy.LRU && bucketsSinceSwitch % BUCKETS == 0) {
        sides[Policy.TINYLFU.ordinal()].ghost.beginAnew();
      }
      bucket = (bucket + 1) % BUCKETS;
      for (Side side : sides) {
        side.begin(bucket);
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
  synchronized void switched(Policy chosen, long nowEpochSeconds) {
    reason = choice == PolicyChoice.AUTO ? reasonFor(chosen) : "the setting says so";
    policy = chosen;
    switches++;
    sinceEpochSeconds = nowEpochSeconds;
    bucketsSinceSwitch = 0;
    sides[Policy.TINYLFU.ordinal()].ghost.beginAnew();
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

  synchronized PolicySnapshot snapshot() {
    List<Estimate> estimates = new ArrayList<>();
    for (Policy each : Policy.values()) {
      Side side = sides[each.ordinal()];
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
