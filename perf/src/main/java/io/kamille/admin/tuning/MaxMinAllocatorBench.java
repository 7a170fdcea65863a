package io.kamille.admin.tuning;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to share a budget among so many connections, once for each period. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class MaxMinAllocatorBench {

  private static final long FLOOR = 16 << 10;
  private static final long CEILING = 2 << 20;

  @Param({"1000", "10000", "100000"})
  public int connections;

  private long[] demands = new long[0];

  /** Demands over five orders of magnitude. */
  @Setup
  public void draw() {
    var random = new SplittableRandom(4);
    demands =
        random.doubles(connections, 3, 8).mapToLong(power -> (long) Math.pow(10, power)).toArray();
  }

  @Benchmark
  public long[] scarce() {
    return MaxMinAllocator.allocate(demands, 2L * connections * FLOOR, FLOOR, CEILING);
  }

  @Benchmark
  public long[] plenty() {
    return MaxMinAllocator.allocate(demands, connections * CEILING, FLOOR, CEILING);
  }
}
