package io.kamille.perf.lab;

import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadResult;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One cell of the matrix in one round.
 *
 * @param setting which server, and how it is asked
 * @param rate offered, in requests per second
 * @param repliesPerSecond right ones
 * @param failures how many failed, by kind
 * @param cpuMicros of the server for each right reply
 * @param kernelShare of that CPU time, 0 to 1
 * @param pollsPerSecond NaN where the server does not tell
 * @param eventsPerPoll NaN where the server does not tell
 * @param isClientLimited whether the client was at its own limit
 */
record PacedPoint(
    String setting,
    int rate,
    int intervalMicros,
    int round,
    double repliesPerSecond,
    Map<LoadFailure, Long> failures,
    double meanMicros,
    double p50Micros,
    double p99Micros,
    double cpuMicros,
    double kernelShare,
    double pollsPerSecond,
    double eventsPerPoll,
    boolean isClientLimited) {

  static final String TITLES =
      "setting,rate,interval_micros,round,replies_per_second,failed,failures,mean_micros,p50_micros,"
          + "p99_micros,cpu_micros,kernel_share,polls_per_second,events_per_poll,client_limited";

  static PacedPoint of(
      String setting,
      int rate,
      int intervalMicros,
      int round,
      LoadResult load,
      PacedTarget.Reading taken) {
    double seconds = load.nanos() / 1e9;
    long ticks = taken.cpu().userTicks() + taken.cpu().kernelTicks();
    return new PacedPoint(
        setting,
        rate,
        intervalMicros,
        round,
        load.ratePerSecond(),
        load.failures(),
        load.latency().getMean() / 1e3,
        load.latencyMicros(50),
        load.latencyMicros(99),
        load.completed() == 0 ? Double.NaN : taken.ranNanos() / 1e3 / load.completed(),
        ticks == 0 ? Double.NaN : (double) taken.cpu().kernelTicks() / ticks,
        taken.polls() < 0 ? Double.NaN : taken.polls() / seconds,
        taken.polls() <= 0 ? Double.NaN : (double) taken.events() / taken.polls(),
        load.isSaturated());
  }

  long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum();
  }

  String line() {
    return Stream.of(
            '"' + setting + '"',
            rate,
            intervalMicros,
            round,
            text(repliesPerSecond),
            failed(),
            failures.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(";")),
            text(meanMicros),
            text(p50Micros),
            text(p99Micros),
            text(cpuMicros),
            text(kernelShare),
            text(pollsPerSecond),
            text(eventsPerPoll),
            isClientLimited)
        .map(Objects::toString)
        .collect(Collectors.joining(","));
  }

  private static String text(double value) {
    return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.3f", value);
  }
}
