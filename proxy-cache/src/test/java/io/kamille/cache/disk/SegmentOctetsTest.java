package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SegmentOctetsTest {

  private static final int HEAD_LENGTH = 10;
  private static final int CONTENT_LENGTH = 100;

  private final MemoryDirectory directory = new MemoryDirectory();
  private final Queue<Runnable> queued = new ArrayDeque<>();
  private final AtomicInteger told = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private Segment segment;
  private SegmentOctets octets;

  @BeforeEach
  void lend() throws IOException {
    segment = Segment.create(directory, 1, 1, _ -> ended.incrementAndGet());
    segment.retain();
    octets =
        new SegmentOctets(
            segment,
            new byte[HEAD_LENGTH],
            Segment.HEADER_LENGTH,
            CONTENT_LENGTH,
            0,
            queued::add,
            broken -> {
              throw new AssertionError(broken);
            });
  }

  private void fetch() {
    assertThat(octets.fetch(HEAD_LENGTH, CONTENT_LENGTH, told::incrementAndGet)).isFalse();
  }

  @Test
  void aQueuedFetchReadsForWhoeverStillSends() {
    fetch();
    queued.remove().run();
    assertThat(directory.fetches()).isEqualTo(1);
    assertThat(told).hasValue(1);
    assertThat(octets.tryRetain()).isTrue();
  }

  @Test
  void aQueuedFetchReadsNothingAfterTheLastReaderAndEndsTheRecord() {
    fetch();
    octets.release();
    queued.remove().run();
    assertThat(directory.fetches()).isZero();
    assertThat(told).hasValue(1);

    assertThat(octets.tryRetain()).isFalse();
    assertThatThrownBy(octets::retain).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(octets::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> octets.copyTo(0, new byte[HEAD_LENGTH], 0, HEAD_LENGTH))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> octets.slice(0, HEAD_LENGTH))
        .isInstanceOf(IllegalStateException.class);

    segment.release();
    assertThat(ended).as("the record ended its own lease only, and the store its").hasValue(1);
  }
}
