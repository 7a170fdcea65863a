package io.kamille.perf.soak;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** What was done and what was wrong. Any thread. */
final class Tally {

  /** About so many failures are told in words; the rest is counted. */
  private static final int TOLD = 40;

  private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final LongAdder failed = new LongAdder();

  void count(String what) {
    counts.computeIfAbsent(what, _ -> new LongAdder()).increment();
  }

  /** The sum of all counts whose name begins so. */
  long sum(String beginning) {
    return of(beginning).mapToLong(entry -> entry.getValue().sum()).sum();
  }

  /** A line for each count whose name begins so. */
  List<String> lines(String beginning) {
    return of(beginning).map(entry -> entry.getKey() + " " + entry.getValue().sum()).toList();
  }

  private Stream<Map.Entry<String, LongAdder>> of(String beginning) {
    return counts.entrySet().stream().filter(entry -> entry.getKey().startsWith(beginning));
  }

  /** Something that must never be. */
  void fail(String what) {
    failed.increment();
    if (failed.sum() <= TOLD) {
      failures.add(what);
    }
  }

  long failed() {
    return failed.sum();
  }

  List<String> failures() {
    return List.copyOf(failures);
  }
}
