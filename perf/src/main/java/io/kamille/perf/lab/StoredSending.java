package io.kamille.perf.lab;

import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** Sends stored objects of one size to a sink, from the arena itself or by a copy. Confined. */
final class StoredSending implements AutoCloseable {

  /*
   * The paper's copy straight from the guest's memory (DMHU) is the write from the arena here. The
   * copy that it saves is one outside the heap. A server that keeps content on the heap makes two:
   * one for itself, and the JDK's to memory that the kernel can read.
   */

  /** How octets come from the arena to the kernel. */
  enum Way {
    ARENA("from the arena"),
    COPY("a copy outside the heap"),
    HEAP("a copy on the heap");

    final String label;

    Way(String label) {
      this.label = label;
    }
  }

  private static final Figure BYTES = Figure.of("bytes");
  private static final Figure NANOS = Figure.of("nanos");
  private static final Figure CPU = Figure.of("cpu_nanos");

  /** Megabytes each second. */
  static final Figure RATE = BYTES.per(NANOS).times(1000);

  static final List<Column> COLUMNS =
      List.of(
          Column.spread("MB/s", RATE, 0),
          Column.ratio("÷ a copy outside the heap", RATE, Way.COPY.label),
          Column.spread("CPU µs/MiB", CPU.per(BYTES).times((1 << 20) / 1e3), 0),
          Column.ratio("CPU ÷ a copy outside the heap", CPU.per(BYTES), Way.COPY.label));

  /** More than the processor's caches hold. */
  private static final int STORED_BYTES = 32 << 20;

  private static final int READ_BYTES = 64 << 10;

  private final Arena arena = Arena.open(2L * STORED_BYTES);
  private final StoredBytes[] objects;
  private final int size;
  private final ByteBuffer copy;

  StoredSending(int size) {
    this.size = size;
    objects = new StoredBytes[STORED_BYTES / size];
    copy = ByteBuffer.allocateDirect(size);
    ByteBuf content = Unpooled.wrappedBuffer(new byte[size]);
    for (int i = 0; i < objects.length; i++) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(size, 0));
      writer.append(content);
      objects[i] = writer.commit();
    }
  }

  /** Sends for so long. */
  Sample send(InetSocketAddress sink, Way way, Duration length, int round) throws IOException {
    try (SocketChannel channel = BurstSink.connect(sink, READ_BYTES)) {
      long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      long begin = System.nanoTime();
      for (int i = 0; System.nanoTime() - begin < length.toNanos(); i++) {
        send(channel, way, objects[i % objects.length]);
      }
      cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
      long bytes = BurstSink.end(channel);
      return Sample.of(Integer.toString(size), way.label, round)
          .with(BYTES, bytes)
          .with(NANOS, System.nanoTime() - begin)
          .with(CPU, cpu);
    }
  }

  private void send(SocketChannel channel, Way way, StoredBytes object) throws IOException {
    if (way == Way.HEAP) {
      byte[] octets = new byte[size];
      object.copyTo(0, octets, 0, size);
      write(channel, ByteBuffer.wrap(octets));
      return;
    }
    ByteBuf slice = object.slice(0, size);
    try {
      ByteBuffer octets = slice.nioBuffer();
      write(channel, way == Way.ARENA ? octets : copy.clear().put(octets).flip());
    } finally {
      slice.release();
    }
  }

  private static void write(SocketChannel channel, ByteBuffer octets) throws IOException {
    while (octets.hasRemaining()) {
      channel.write(octets);
    }
  }

  @Override
  public void close() {
    for (StoredBytes object : objects) {
      object.release();
    }
    arena.close();
  }
}
