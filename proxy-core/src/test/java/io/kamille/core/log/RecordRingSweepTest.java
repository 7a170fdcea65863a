package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of any length come out of the ring as they went in, however often it wraps around. */
class RecordRingSweepTest {

  private static final int CAPACITY = 1024;
  private static final int GREATEST = 200;
  private static final byte[] NOTHING = {};
  private static final long BACK_OFF_NANOS = 10_000;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theRingIsAQueue(long seed) {
    Random random = new Random(seed);
    RecordRing ring = new RecordRing(CAPACITY);
    Deque<byte[]> model = new ArrayDeque<>();
    for (int step = 0; step < 20_000; step++) {
      if (random.nextBoolean()) {
        byte[] record = record(random, step);
        if (write(ring, record, record.length + random.nextInt(GREATEST))) {
          model.add(record);
        }
      } else {
        byte[] read = read(ring);
        assertThat(read).isEqualTo(model.isEmpty() ? NOTHING : model.poll());
      }
    }
    while (!model.isEmpty()) {
      assertThat(read(ring)).isEqualTo(model.poll());
    }
    assertThat(ring.peek()).isNegative();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13})
  void theReaderSeesWhatTheWriterWroteOnAnotherThread(long seed) {
    int records = 20_000;
    RecordRing ring = new RecordRing(8 * CAPACITY);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              Random random = new Random(seed);
              for (int i = 0; i < records; i++) {
                byte[] record = record(random, i);
                while (!write(ring, record, record.length)) {
                  LockSupport.parkNanos(BACK_OFF_NANOS);
                }
              }
            });
    Random random = new Random(seed);
    for (int i = 0; i < records; i++) {
      byte[] expected = record(random, i);
      byte[] read = read(ring);
      while (read.length == 0) {
        LockSupport.parkNanos(BACK_OFF_NANOS);
        read = read(ring);
      }
      assertThat(read).isEqualTo(expected);
    }
    writer.join();
  }

  private static byte[] record(Random random, int number) {
    byte[] record = new byte[1 + random.nextInt(GREATEST)];
    Arrays.fill(record, (byte) number);
    return record;
  }

  private static boolean write(RecordRing ring, byte[] record, int reserved) {
    int offset = ring.reserve(RecordRing.LENGTH_BYTES + reserved);
    if (offset < 0) {
      return false;
    }
    System.arraycopy(record, 0, ring.octets(), offset + RecordRing.LENGTH_BYTES, record.length);
    ring.commit(RecordRing.LENGTH_BYTES + record.length);
    return true;
  }

  private static byte[] read(RecordRing ring) {
    int offset = ring.peek();
    if (offset < 0) {
      return NOTHING;
    }
    int length = ring.length(offset) - RecordRing.LENGTH_BYTES;
    byte[] record = new byte[length];
    System.arraycopy(ring.octets(), offset + RecordRing.LENGTH_BYTES, record, 0, length);
    ring.release();
    return record;
  }
}
