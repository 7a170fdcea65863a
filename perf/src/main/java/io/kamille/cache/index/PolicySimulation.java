package io.kamille.cache.index;

import java.util.HashMap;
import java.util.Map;

/** A cache of numbers that answers a trace: the policies alone, without content. */
public final class PolicySimulation {

  /*
   * Just what PolicyIndex does, in one thread. What is asked for and not there is stored. Counting
   * begins when a part of the trace is over, so that a cache that fills counts for nothing.
   */
  private static final int UNIT_BYTES = PolicyIndex.UNIT_BYTES;
  private static final long GHOST_LEAST_BYTES = PolicyIndex.GHOST_LEAST_BYTES;

  private final Map<Long, Item> items = new HashMap<>();
  private final Replacement order;
  private final PolicyJudge judge;
  private long switches;

  private PolicySimulation(PolicyChoice choice, long capacityBytes) {
    long units = capacityBytes / UNIT_BYTES;
    order = new Replacement(choice.first(), units, 1024);
    judge = new PolicyJudge(choice, units, GHOST_LEAST_BYTES / UNIT_BYTES, 0);
  }

  private static final class Item extends Node {

    private final long object;

    Item(long object) {
      this.object = object;
    }

    @Override
    long hash() {
      return object;
    }
  }

  /**
   * What a policy hit.
   *
   * @param objects of all requests, 0 to 1
   * @param bytes of all octets asked for, 0 to 1
   */
  public record Result(double objects, double bytes, Policy last, long switches) {}

  /** Answers so many requests, of which the first are not counted. */
  public static Result run(
      Trace trace, PolicyChoice choice, long capacityBytes, long requests, long uncounted) {
    PolicySimulation cache = new PolicySimulation(choice, capacityBytes);
    Count count = count(trace, cache::request, requests, uncounted);
    return new Result(count.objects(), count.bytes(), cache.order.policy(), cache.switches);
  }

  /** The same in Caffeine. */
  public static Result runCaffeine(Trace trace, long capacityBytes, long requests, long uncounted) {
    var cache = new CaffeineSimulation(capacityBytes);
    Count count = count(trace, cache::request, requests, uncounted);
    return new Result(count.objects(), count.bytes(), Policy.TINYLFU, 0);
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
    Item item = items.get(object);
    boolean isSampled = judge.samples(Traces.mix(object));
    if (item != null) {
      order.touch(item);
      if (isSampled) {
        judge.found(object, item.units());
      }
    } else {
      if (isSampled) {
        judge.missed(object);
      }
      store(object, length, isSampled);
    }
    follow(judge.advice());
    return item != null;
  }

  private void store(long object, long length, boolean isSampled) {
    Item item = new Item(object);
    items.put(object, item);
    order.add(item, (int) Math.ceilDiv(length, UNIT_BYTES));
    if (isSampled) {
      judge.stored(object, item.units());
    }
    for (Node out = order.takeSurplus(); out != null; out = order.takeSurplus()) {
      items.remove(((Item) out).object);
    }
  }

  private void follow(Policy advice) {
    if (advice != order.policy() && order.choose(advice)) {
      judge.switched(advice, 0);
      switches++;
    }
  }
}
