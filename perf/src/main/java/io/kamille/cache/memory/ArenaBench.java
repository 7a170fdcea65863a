package io.kamille.cache.memory;

import io.kamille.perf.MicroBench;
import java.util.Objects;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it costs to take memory for a response and to give it back, in an arena three parts full.
 */
public class ArenaBench extends MicroBench {

  private static final long CAPACITY_BYTES = 64 << 20;

  @Param({"1024", "65536", "1048576"})
  int size;

  private final Arena arena = Arena.open(CAPACITY_BYTES);
  private final ArenaWriter[] others = new ArenaWriter[(int) (CAPACITY_BYTES * 3 / 4 / (48 << 10))];

  @Setup
  public void fill() {
    for (int i = 0; i < others.length; i++) {
      others[i] = writer(48 << 10);
    }
  }

  @TearDown
  public void empty() {
    for (ArenaWriter other : others) {
      other.abandon();
    }
    arena.close();
  }

  private ArenaWriter writer(int bytes) {
    return Objects.requireNonNull(arena.writer(bytes, 0));
  }

  @Benchmark
  public void takeAndGive() {
    writer(size).abandon();
  }
}
