package io.kamille.perf.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** What was done and what was wrong. Any thread. */
final class Tally {

  /** So many failures are told in words; the rest is counted. */
  private static final int TOLD = 40;

  private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();
  private final List<String> failures = new ArrayList<>();
  private final LongAdder failed = new LongAdder();

  void count(String what) {
    add(what, 1);
  }

  void add(String what, long amount) {
    counts.computeIfAbsent(what, name -> new LongAdder()).add(amount);
  }

  long of(String what) {
    LongAdder adder = counts.get(what);
    return adder == null ? 0 : adder.sum();
  }

  /** The sum of all counts whose name begins so. */
  long sum(String beginning) {
    return counts.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(beginning))
        .mapToLong(entry -> entry.getValue().sum())
        .sum();
  }

  /** Something that must never be. */
  void fail(String what) {
    failed.increment();
    synchronized (failures) {
      if (failures.size() < TOLD) {
        failures.add(what);
      }
    }
  }

  long failed() {
    return failed.sum();
  }

  List<String> failures() {
    synchronized (failures) {
      return List.copyOf(failures);
    }
  }

  /** A line for each count whose name begins so. */
  List<String> lines(String beginning) {
    return counts.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(beginning))
        .map(entry -> entry.getKey() + " " + entry.getValue().sum())
        .toList();
  }
}
