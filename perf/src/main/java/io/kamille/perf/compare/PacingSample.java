package io.kamille.perf.compare;

import io.kamille.perf.host.RunTime;
import io.kamille.perf.load.LoadResult;

/**
 * One way of pacing under one rate in one round.
 *
 * @param rate offered, in requests per second
 * @param ran what the server's threads took meanwhile
 */
record PacingSample(String way, int rate, int round, LoadResult load, RunTime.Taken ran) {

  double cpuMicrosPerRequest() {
    return load.completed() == 0 ? Double.NaN : ran.ranNanos() / 1e3 / load.completed();
  }

  double p50Micros() {
    return load.latencyMicros(50);
  }

  double p99Micros() {
    return load.latencyMicros(99);
  }

  /** How much of the time that its threads wanted to run they had to wait for the core. */
  double waitedRatio() {
    long wanted = ran.ranNanos() + ran.waitedNanos();
    return wanted == 0 ? 0 : (double) ran.waitedNanos() / wanted;
  }
}
