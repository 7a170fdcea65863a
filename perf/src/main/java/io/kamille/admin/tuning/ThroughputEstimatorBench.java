package io.kamille.admin.tuning;

import io.kamille.core.socket.CongestionControl;
import io.kamille.core.socket.TcpSample;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to take one look at a connection into account. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class ThroughputEstimatorBench {

  private static final long SECOND = 1_000_000_000L;
  private static final int MSS = 1448;

  @Param({"CUBIC", "BBR"})
  public CongestionControl control = CongestionControl.CUBIC;

  private final ThroughputEstimator estimator = new ThroughputEstimator();
  private long seconds;

  @Benchmark
  public Estimate look() {
    seconds++;
    return estimator.add(
        new TcpSample(
            seconds * SECOND,
            control,
            MSS,
            50_000,
            49_000,
            250_000,
            20,
            seconds * 220,
            seconds * 2,
            0,
            0,
            seconds * 220 * MSS,
            20 * MSS,
            16_384,
            320_000,
            false,
            seconds * 1_000_000,
            0,
            0,
            65_535),
        GroupPrior.UNKNOWN,
        0);
  }
}
