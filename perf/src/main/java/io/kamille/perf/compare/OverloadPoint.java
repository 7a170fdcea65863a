package io.kamille.perf.compare;

import io.kamille.perf.load.UserResult;
import java.util.Locale;

/**
 * What came of one load on one server.
 *
 * @param load offered, in capacities
 * @param capacity of that server, in requests per second
 * @param cpuMicros that the server took while requests were counted
 * @param residentBytes of the server, at the end of that time
 */
record OverloadPoint(
    String server,
    double load,
    double capacity,
    UserResult result,
    long cpuMicros,
    long residentBytes) {

  static final String TITLES =
      "server,load,capacity,seconds,offered,good,good_forwarded,shed,turned_away,timed_out,failed,"
          + "p50_micros,p99_micros,cpu_micros,resident_bytes,late_p99_micros,client_busy";

  /** Right answers per second, in capacities. */
  double goodputRatio() {
    return result.goodput() / capacity;
  }

  double p99Micros() {
    return result.latencyMicros(99);
  }

  double seconds() {
    return result.nanos() / 1e9;
  }

  String line() {
    return RawData.line(
        server,
        load,
        Math.round(capacity),
        seconds(),
        result.offered(),
        result.good(),
        result.goodForwarded(),
        result.shed(),
        result.turnedAway(),
        result.timedOut(),
        result.failed(),
        result.latencyMicros(50),
        result.latencyMicros(99),
        cpuMicros,
        residentBytes,
        result.latenessMicros(99),
        String.format(Locale.ROOT, "%.3f", result.busyRatio()));
  }
}
