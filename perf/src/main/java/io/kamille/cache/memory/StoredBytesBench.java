package io.kamille.cache.memory;

import io.kamille.perf.load.LoopThreads;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** What it costs to lend stored octets to a reader, and to store a kibibyte and forget it. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 2,
    jvmArgsAppend = {LoopThreads.OPTION, LoopThreads.CLASS_OPTION})
@State(Scope.Thread)
public class StoredBytesBench {

  private static final int LENGTH = 1024;

  private final Arena arena = Arena.open(Arena.CAPACITY_MINIMUM_BYTES);
  private final ByteBuf content = Unpooled.directBuffer(LENGTH).writeZero(LENGTH);
  private @Nullable StoredBytes stored;

  @Setup
  public void store() {
    stored = arena.store(content, 0);
  }

  @TearDown
  public void close() {
    bytes().release();
    content.release();
    arena.close();
  }

  private StoredBytes bytes() {
    if (stored == null) {
      throw new IllegalStateException("the arena is too small for " + LENGTH + " octets");
    }
    return stored;
  }

  @Benchmark
  public boolean lease() {
    StoredBytes bytes = bytes();
    boolean isThere = bytes.tryRetain();
    bytes.release();
    return isThere;
  }

  @Benchmark
  public void slice(Blackhole sink) {
    ByteBuf slice = bytes().slice(0, LENGTH);
    sink.consume(slice.memoryAddress());
    slice.release();
  }

  @Benchmark
  public void storeAndForget() {
    StoredBytes other = arena.store(content, 0);
    if (other != null) {
      other.release();
    }
  }
}
