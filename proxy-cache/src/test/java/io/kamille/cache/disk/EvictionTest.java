package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;

class EvictionTest {

  private static final int LENGTH = 1000;

  @Test
  void theOldestSegmentIsForgottenAndTheFilesStayBelowTheCapacity() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      for (int i = 0; i < 100; i++) {
        fixture.put(i, 1, LENGTH);
        assertThat(directory.segmentBytes()).isLessThanOrEqualTo(DiskFixture.CAPACITY_BYTES);
      }
      assertThat(fixture.all(0)).isEmpty();
      assertThat(fixture.version(99, LENGTH)).isEqualTo(1);
      assertThat(fixture.tier.size()).isBetween(12L, 24L);
      assertThat(fixture.tier.counts().evictedSegments.sum()).isPositive();
      assertThat(fixture.tier.usedBytes()).isEqualTo(directory.segmentBytes());
    }
  }

  @Test
  void whatWasAskedForSinceIsWrittenAgain() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      for (int i = 0; i < 100; i++) {
        fixture.put(i, 1, LENGTH);
        assertThat(fixture.version(0, LENGTH)).as("after %d", i).isEqualTo(1);
        assertThat(directory.segmentBytes()).isLessThanOrEqualTo(DiskFixture.CAPACITY_BYTES);
      }
      assertThat(fixture.tier.counts().readmissions.sum()).isPositive();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.version(0, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void evenIfEverythingIsAskedForHalfOfASegmentIsForWhatIsNew() {
    try (var fixture = new DiskFixture()) {
      for (int i = 0; i < 100; i++) {
        fixture.put(i, 1, LENGTH);
        for (int before = 0; before <= i; before++) {
          fixture.version(before, LENGTH);
        }
        assertThat(fixture.version(i, LENGTH)).isEqualTo(1);
      }
    }
  }

  @Test
  void evictionDuringRecoveryFindsAllThatIsThere() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      for (int i = 0; i < 15; i++) {
        fixture.put(i, 1, LENGTH);
      }
    }
    try (var fixture = new DiskFixture(directory, 5 * DiskFixture.SEGMENT_BYTES)) {
      fixture.put(100, 1, LENGTH);
      assertThat(directory.segmentBytes()).isLessThanOrEqualTo(5 * DiskFixture.SEGMENT_BYTES);
      assertThat(fixture.tier.size()).isBetween(2L, 10L);
      for (int i = 0; i < 15; i++) {
        for (Extent extent : fixture.tier.find(DiskFixture.key(i))) {
          assertThat(fixture.read(DiskFixture.key(i), extent)).isNotNull();
        }
      }
    }
  }

  @Test
  void manyRestartsLeaveNoMoreThanABoundedNumberOfFiles() {
    var directory = new MemoryDirectory();
    for (int i = 0; i < 50; i++) {
      try (var fixture = DiskFixture.recovered(directory)) {
        fixture.put(i, 1, 0);
        assertThat(fixture.version(i, 0)).isEqualTo(1);
      }
    }
    assertThat(directory.segments()).hasSize(32);
  }

  @Test
  void aSegmentThatIsReadIsDeletedWhenItsReaderEnds() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(0, 1, LENGTH);
      String first = directory.segments().getFirst();
      CacheKey key = DiskFixture.key(0);
      Extent extent = fixture.tier.find(key)[0];
      var sink =
          new RecordSink() {
            private int octets;

            @Override
            public boolean begin(StoredHead head, long sequence, int contentLength) {
              for (int i = 1; i < 60; i++) {
                fixture.put(i, 1, LENGTH);
              }
              assertThat(directory.segments()).contains(first);
              return true;
            }

            @Override
            public boolean append(ByteBuf piece) {
              octets += piece.readableBytes();
              return true;
            }
          };
      // Asked for once, it is copied; the copy falls out in turn.
      assertThat(fixture.tier.read(key, extent, sink)).isTrue();
      assertThat(sink.octets).isGreaterThan(LENGTH);
      fixture.run();
      assertThat(directory.segments()).doesNotContain(first);
      assertThat(fixture.tier.read(key, extent, sink)).isFalse();
    }
  }
}
