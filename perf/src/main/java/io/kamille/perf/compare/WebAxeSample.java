package io.kamille.perf.compare;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadResult;

/**
 * One server at the fixed rate in one round.
 *
 * @param requests that were sent
 * @param offeredHitRatio of them a cache with all of the working set may answer from its store
 * @param forwarded requests that the origin got meanwhile
 * @param cpu of the server's processes
 * @param originCpu of the origin
 */
record WebAxeSample(
    String server,
    int round,
    LoadResult load,
    long requests,
    double offeredHitRatio,
    long forwarded,
    CpuTime cpu,
    CpuTime originCpu) {

  static final String TITLES =
      "server,round,requests,completed,failed,failures,nanos,offered_hit_ratio,hit_ratio,forwarded,"
          + "user_micros,kernel_micros,p50_micros,p99_micros,client_busy_ratio,origin_core_share,"
          + "others_limited";

  /** The share of the requests that did not reach the origin, 0 to 1. */
  double hitRatio() {
    return requests == 0 ? 0 : 1 - (double) forwarded / requests;
  }

  /** What was reached less what was offered, in points. */
  double missedPoints() {
    return (hitRatio() - offeredHitRatio) * 100;
  }

  double cpuMicrosPerRequest() {
    return (double) (cpu.userMicros() + cpu.kernelMicros()) / Math.max(1, load.completed());
  }

  double originCoreShare() {
    return CleanRate.coreShare(originCpu, load);
  }

  String line() {
    return RawData.line(
        server,
        round,
        requests,
        load.completed(),
        load.failed(),
        CleanRate.text(load.failures()),
        load.nanos(),
        offeredHitRatio,
        hitRatio(),
        forwarded,
        cpu.userMicros(),
        cpu.kernelMicros(),
        load.latencyMicros(50),
        load.latencyMicros(99),
        load.busyRatio(),
        originCoreShare(),
        load.isSaturated());
  }
}
