package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricRegistry;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of any length come out of the ring as they went in, however often it wraps around. */
class LineRingSweepTest {

  private static final int CAPACITY = 1024;
  private static final int GREATEST = 200;
  private static final long BACK_OFF_NANOS = 10_000;

  private final Counter dropped = new MetricRegistry().counter(LogWriter.DROPPED, "buffer-full");

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theRingIsAQueue(long seed) {
    Random random = new Random(seed);
    LineRing ring = new LineRing(CAPACITY, dropped);
    ByteBuffer batch = ByteBuffer.allocate(CAPACITY);
    ByteArrayOutputStream model = new ByteArrayOutputStream();
    for (int step = 0; step < 20_000; step++) {
      if (random.nextInt(8) > 0) {
        byte[] line = line(random, step);
        boolean fits = model.size() + line.length <= CAPACITY;
        assertThat(adds(ring, line)).isEqualTo(fits);
        if (fits) {
          model.writeBytes(line);
        }
      } else {
        ring.drainTo(batch.clear());
        assertThat(octets(batch)).isEqualTo(model.toByteArray());
        model.reset();
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13})
  void theWriterSeesWhatTheLoopWroteOnAnotherThread(long seed) {
    int lines = 20_000;
    LineRing ring = new LineRing(8 * CAPACITY, dropped);
    CompletableFuture<Void> loop =
        CompletableFuture.runAsync(
            () -> {
              Random random = new Random(seed);
              for (int i = 0; i < lines; i++) {
                byte[] line = line(random, i);
                while (!adds(ring, line)) {
                  LockSupport.parkNanos(BACK_OFF_NANOS);
                }
              }
            });
    Random random = new Random(seed);
    ByteBuffer batch = ByteBuffer.allocate(8 * CAPACITY).flip();
    for (int i = 0; i < lines; i++) {
      while (!batch.hasRemaining()) {
        LockSupport.parkNanos(BACK_OFF_NANOS);
        ring.drainTo(batch.clear());
        batch.flip();
      }
      byte[] expected = line(random, i);
      byte[] read = new byte[expected.length];
      batch.get(read);
      assertThat(read).isEqualTo(expected);
    }
    loop.join();
  }

  private static byte[] line(Random random, int number) {
    byte[] line = new byte[1 + random.nextInt(GREATEST)];
    Arrays.fill(line, (byte) number);
    return line;
  }

  private boolean adds(LineRing ring, byte[] line) {
    long before = dropped.value();
    ring.add(line, line.length);
    return dropped.value() == before;
  }

  private static byte[] octets(ByteBuffer batch) {
    byte[] octets = new byte[batch.position()];
    batch.get(0, octets);
    return octets;
  }
}
