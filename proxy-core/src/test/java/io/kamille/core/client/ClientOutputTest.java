package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientOutputTest {

  /** A client whose buffer was made larger is not taken for one that sends and does not read. */
  @ParameterizedTest
  @CsvSource({
    "128, 300, true",
    "128, 200, false",
    "8, 200, false",
    "8, 300, true",
    "512, 600, false",
    "512, 1100, true"
  })
  void itIsOverfullAtTwiceTheGreaterMark(int markKib, int waitingKib, boolean isOverfull) {
    var channel = new EmbeddedChannel();
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, markKib << 10));
    var owner =
        new ClientOutput.Owner() {
          @Override
          public void writabilityChanged() {}

          @Override
          public void notSent(long bytes) {}
        };
    var output =
        new ClientOutput(
            channel,
            new LoopTime(() -> 0),
            new PendingFlushes(channel.eventLoop()),
            owner,
            null,
            false);
    channel.write(Unpooled.wrappedBuffer(new byte[waitingKib << 10]));
    assertThat(output.isOverfull(128 << 10)).isEqualTo(isOverfull);
    channel.finishAndReleaseAll();
  }
}
