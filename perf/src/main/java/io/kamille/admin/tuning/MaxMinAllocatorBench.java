package io.kamille.admin.tuning;

import io.kamille.perf.MicroBench;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** What it costs to share a budget among so many connections, once for each period. */
public class MaxMinAllocatorBench extends MicroBench {

  private static final long FLOOR = 16 << 10;
  private static final long CEILING = 2 << 20;

  @Param({"100", "10000"})
  int connections;

  private long[] demands = {};

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
