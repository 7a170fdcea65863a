package io.kamille.cache.coding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CoderTest {

  private static final int CAPACITY = 2 << 20;

  private final Arena arena = Arena.open(CAPACITY);
  private final Store store =
      new Store(
          arena,
          TestIndexes.inCaller(
              Store.indexCapacityBytes(CAPACITY),
              PolicyChoice.AUTO,
              arena::charge,
              ManualClock.atSeconds(1_800_000_000)),
          new PurgeTable(),
          null);

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void anEncoderThatFailsToBeginLeavesItsPlaceToOthers() throws IOException {
    Coder coder = new Coder(store, Runnable::run, new MetricRegistry());
    OutputStream failing =
        new OutputStream() {
          @Override
          public void write(int octet) {
            throw new OutOfMemoryError("direct memory");
          }
        };
    for (int i = 0; i < 256; i++) {
      assertThatExceptionOfType(OutOfMemoryError.class)
          .isThrownBy(() -> coder.begin(ContentCoding.GZIP, failing));
    }
    try (OutputStream encoder = coder.begin(ContentCoding.GZIP, new ByteArrayOutputStream())) {
      assertThat(encoder).isNotNull();
    }
  }
}
