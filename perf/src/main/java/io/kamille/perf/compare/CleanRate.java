package io.kamille.perf.compare;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadResult;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The highest rate that one server kept up with in one round, without an error and with latency
 * within its bound.
 *
 * @param rate in requests per second, 0 if none was found
 * @param limit what the lowest rate above it showed; null if none was tried
 */
record CleanRate(String server, int round, double rate, @Nullable Limit limit) {

  static final String TITLES =
      "server,round,rate,limit_rate,limit_completed_rate,limit_failures,limit_p99_micros,"
          + "limit_client_busy_ratio,limit_origin_core_share,others_limited";

  /**
   * A rate that was not clean.
   *
   * @param rate offered, in requests per second
   * @param originCpu of the origin meanwhile
   */
  record Limit(double rate, LoadResult load, CpuTime originCpu) {

    double originCoreShare() {
      return coreShare(originCpu, load);
    }
  }

  /**
   * Whether client and origin, which share a core, were at its limit where the search ended: the
   * server can do as much at least.
   */
  boolean isOthersLimited() {
    return limit == null || limit.load().isSaturated();
  }

  /** How much of a core a process took during a run. */
  static double coreShare(CpuTime cpu, LoadResult load) {
    return (cpu.userMicros() + cpu.kernelMicros()) * 1e3 / Math.max(1, load.nanos());
  }

  static String text(Map<LoadFailure, Long> failures) {
    return failures.entrySet().stream()
        .map(entry -> entry.getKey() + " " + entry.getValue())
        .collect(Collectors.joining(";"));
  }

  String line() {
    if (limit == null) {
      return RawData.line(server, round, rate, "", "", "", "", "", "", true);
    }
    LoadResult load = limit.load();
    return RawData.line(
        server,
        round,
        rate,
        limit.rate(),
        load.ratePerSecond(),
        text(load.failures()),
        load.latencyMicros(99),
        load.busyRatio(),
        limit.originCoreShare(),
        isOthersLimited());
  }
}
