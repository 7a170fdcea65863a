package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.api.Answer;
import io.kamille.core.loop.ManualClock;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Streams to those who read and to those who do not. */
class LiveStreamsTest {

  private final EmbeddedChannel reader = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
  private final LiveStreams streams =
      new LiveStreams(reader.eventLoop(), ManualClock.atSeconds(1_795_251_660L));

  private boolean isLetIn = true;

  private void open() {
    ChannelHandlerContext context = reader.pipeline().firstContext();
    streams.open(context, Answer.of(200, Answer.EVENT_STREAM, "retry: 2000\n\n"), () -> isLetIn);
    reader.releaseOutbound();
  }

  private String event() {
    ByteBuf written = reader.readOutbound();
    try {
      return written.toString(StandardCharsets.UTF_8);
    } finally {
      written.release();
    }
  }

  @Test
  void whoReadsGetsEachEvent() {
    open();
    streams.publish("figures", "{\"a\":1}");
    reader.runPendingTasks();
    assertThat(event()).isEqualTo("1e\r\nevent: figures\ndata: {\"a\":1}\n\n\r\n");
  }

  @Test
  void whoIsNoLongerLetInGetsNoFurtherEvent() {
    open();
    isLetIn = false;
    streams.publish("figures", "{}");
    reader.runPendingTasks();
    assertThat(reader.outboundMessages()).isEmpty();
    assertThat(reader.isOpen()).isFalse();
  }

  /** Whoever does not read misses events; nothing piles up for them. */
  @Test
  void whoDoesNotReadCostsNoMemory() {
    open();
    reader.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    for (int i = 0; i < 60; i++) {
      streams.publish("figures", "{}");
    }
    reader.runPendingTasks();
    assertThat(reader.outboundMessages()).isEmpty();
    reader.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    streams.publish("figures", "{}");
    reader.runPendingTasks();
    assertThat(reader.outboundMessages()).hasSize(1);
    reader.releaseOutbound();
  }

  @Test
  void whoNeverReadsIsClosed() {
    open();
    reader.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    for (int i = 0; i <= 60; i++) {
      streams.publish("figures", "{}");
    }
    reader.runPendingTasks();
    assertThat(reader.isOpen()).isFalse();
  }
}
