package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TouchBufferTest {

  private final TouchBuffer buffer = new TouchBuffer();

  private static final class Touched extends Node {

    @Override
    long hash() {
      return 0;
    }
  }

  @Test
  void whatIsPutInComesOutInOrder() {
    Node one = new Touched();
    Node other = new Touched();
    for (int i = 0; i < 1000; i++) {
      buffer.put(one);
      buffer.put(other);
      assertThat(buffer.take()).isSameAs(one);
      assertThat(buffer.take()).isSameAs(other);
      assertThat(buffer.take()).isNull();
    }
  }

  @Test
  void aBufferThatIsHalfFullSaysSoAndAFullOneLosesWhatComes() {
    Node node = new Touched();
    for (int i = 0; i < 32; i++) {
      assertThat(buffer.put(node)).isFalse();
    }
    for (int i = 0; i < 100; i++) {
      assertThat(buffer.put(node)).isTrue();
    }
    int taken = 0;
    while (buffer.take() != null) {
      taken++;
    }
    assertThat(taken).isEqualTo(64);
  }

  @Test
  void nothingComesOutThatWasNotPutInByManyThreads() throws InterruptedException {
    int threads = 3;
    int puts = 20_000;
    var ended = new CountDownLatch(threads);
    int taken = 0;
    for (int i = 0; i < threads; i++) {
      Thread.ofPlatform()
          .start(
              () -> {
                Node node = new Touched();
                for (int put = 0; put < puts; put++) {
                  buffer.put(node);
                }
                ended.countDown();
              });
    }
    do {
      while (buffer.take() != null) {
        taken++;
      }
    } while (!ended.await(1, TimeUnit.MICROSECONDS));
    while (buffer.take() != null) {
      taken++;
    }
    assertThat(taken).isBetween(1, threads * puts);
    assertThat(buffer.put(new Touched())).isFalse();
    assertThat(buffer.take()).isNotNull();
    assertThat(buffer.take()).isNull();
  }
}
