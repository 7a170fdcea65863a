package io.kamille.cache.index;

import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.core.loop.WallClock;

/** A cache of numbers that answers a trace: the policies alone, without content. */
public final class PolicySimulation {

  /*
   * Just what MemoryIndex does, in one thread. What is asked for and not there is stored if it is
   * admitted. Counting begins when a part of the trace is over, so that a cache that fills counts
   * for nothing.
   */
  private static final int UNIT_BYTES = MemoryIndex.UNIT_BYTES;
  private static final long BYTES_PER_COUNTER = MemoryIndex.BYTES_PER_COUNTER;
  private static final long GHOST_LEAST_BYTES = MemoryIndex.GHOST_LEAST_BYTES;

  private final PolicyCache<Long, Integer> cache;
  private final SizeAdmission admission;
  private final PolicyJudge judge;
  private long units;
  private boolean isMaintenanceDue;

  private PolicySimulation(PolicyChoice choice, long capacityBytes) {
    long capacity = capacityBytes / UNIT_BYTES;
    admission = new SizeAdmission(capacity, capacityBytes / BYTES_PER_COUNTER);
    judge = new PolicyJudge(choice, capacity, GHOST_LEAST_BYTES / UNIT_BYTES, WallClock.system());
    cache =
        new PolicyCache<>(
            choice.first(),
            capacity,
            Integer::intValue,
            weight -> 0,
            weight -> units -= weight,
            () -> isMaintenanceDue = true);
  }

  /**
   * What a policy hit.
   *
   * @param objects of all requests, 0 to 1
   * @param bytes of all octets asked for, 0 to 1
   */
  public record Result(double objects, double bytes, Policy last) {}

  /** Answers so many requests, of which the first are not counted. */
  public static Result run(
      Trace trace, PolicyChoice choice, long capacityBytes, long requests, long uncounted) {
    PolicySimulation cache = new PolicySimulation(choice, capacityBytes);
    Count count = count(trace, cache::request, requests, uncounted);
    return new Result(count.objects(), count.bytes(), cache.cache.policy());
  }

  /** The same in Caffeine as it is, without admission by size. */
  public static Result runCaffeine(Trace trace, long capacityBytes, long requests, long uncounted) {
    var cache = new CaffeineSimulation(capacityBytes);
    Count count = count(trace, cache::request, requests, uncounted);
    return new Result(count.objects(), count.bytes(), Policy.TINYLFU);
  }

  /** Answers a request for an object of that length, and says whether it was there. */
  private interface Answerer {
    boolean request(long object, long length);
  }

  private record Count(double objects, double bytes) {}

  private static Count count(Trace trace, Answerer cache, long requests, long uncounted) {
    long hits = 0;
    long hitBytes = 0;
    long bytes = 0;
    for (long n = 0; n < requests; n++) {
      long object = trace.object().applyAsLong(n);
      long length = trace.bytes().applyAsLong(object);
      boolean isHit = cache.request(object, length);
      if (n >= uncounted) {
        bytes += length;
        hits += isHit ? 1 : 0;
        hitBytes += isHit ? length : 0;
      }
    }
    return new Count((double) hits / (requests - uncounted), (double) hitBytes / bytes);
  }

  private boolean request(long object, long length) {
    boolean isSampled = (Traces.mix(object) & judge.sampleMask()) == 0;
    Integer found = cache.find(object);
    if (found != null) {
      if (isSampled) {
        judge.hear(Event.FOUND, object, found);
      }
    } else {
      if (isSampled) {
        judge.hear(Event.MISSED, object, 0);
      }
      store(object, (int) Math.ceilDiv(length, UNIT_BYTES), isSampled);
    }
    maintain();
    follow();
    return found != null;
  }

  private void store(long object, int weight, boolean isSampled) {
    if (admission.admits(cache.policy(), object, weight, units)) {
      units += weight;
      cache.compute(object, (same, before) -> weight);
    }
    if (isSampled) {
      judge.hear(Event.STORED, object, weight);
    }
  }

  private void follow() {
    Policy advice = judge.advice();
    if (advice != cache.policy()) {
      cache.choose(advice);
      judge.switched(advice);
    }
  }

  private void maintain() {
    while (isMaintenanceDue) {
      isMaintenanceDue = false;
      cache.maintain();
    }
  }
}
