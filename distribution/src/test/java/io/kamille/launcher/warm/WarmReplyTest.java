package io.kamille.launcher.warm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a warm-up takes of a response, and what it lets go of. */
class WarmReplyTest {

  private int ended;
  private final List<Failure> cancelled = new ArrayList<>();
  private final ContentSource source =
      new ContentSource() {
        @Override
        public void pause() {}

        @Override
        public void resume() {}

        @Override
        public void cancel(Failure why) {
          cancelled.add(why);
        }
      };

  private static ByteBuf chunk(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  @Test
  void contentIsReleased() {
    WarmReply reply = new WarmReply(() -> ended++);
    reply.head(ResponseHead.of(200), -1);
    ByteBuf chunk = chunk("abc");
    reply.write(chunk);
    reply.end(null);
    assertThat(chunk.refCnt()).isZero();
    assertThat(reply.failure()).isEmpty();
  }

  @Test
  void whoComesAfterTheEndIsCancelled() {
    WarmReply reply = new WarmReply(() -> ended++);
    reply.giveUp("too late");
    reply.open(source);
    assertThat(cancelled).hasSize(1);
    assertThat(reply.isEnded()).isTrue();
    assertThat(ended).isEqualTo(1);
  }
}
