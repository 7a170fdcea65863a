package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RuledHandlerTest {

  private static final int LIMIT = 64 << 10;
  private static final InetSocketAddress ADDRESS =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  private static final ErrorPages PAGES =
      new ErrorPages(
          Map.of(
              404,
              new ErrorPages.Page(
                  "Not here.".getBytes(StandardCharsets.US_ASCII), "text/plain", true)));

  private final RecordingReply client = new RecordingReply();
  private final Reins origin = new Reins();

  @Test
  void aPageEndsTheReplyAndTheRestOfTheContentIsDropped() {
    Reply reply = reply("GET");
    reply.head(ResponseHead.of(404), 9);
    assertThat(client.isEnded()).isTrue();
    assertThat(client.content()).isEqualTo("Not here.");
    ByteBuf late = Unpooled.buffer().writeZero(9);
    reply.write(late);
    reply.end(null);
    assertThat(late.refCnt()).isZero();
    assertThat(origin.isCancelled).isFalse();
    assertThat(client.hasFailed()).isFalse();
  }

  @Test
  void anOriginThatFailsAfterItsHeadSpoilsNoPage() {
    Reply reply = reply("GET");
    reply.head(ResponseHead.of(404), 9);
    reply.abort(Failure.of(Failure.ErrorType.HTTP_RESPONSE_INCOMPLETE, "closed"));
    assertThat(client.hasFailed()).isFalse();
  }

  @Test
  void moreThanIsDroppedIsCancelled() {
    reply("GET").head(ResponseHead.of(404), LIMIT + 1);
    assertThat(client.isEnded()).isTrue();
    assertThat(origin.isCancelled).isTrue();
  }

  @Test
  void whatComesWithoutALengthIsDroppedUpToTheLimit() {
    Reply reply = reply("GET");
    reply.head(ResponseHead.of(404), Reply.UNKNOWN_LENGTH);
    reply.write(Unpooled.buffer().writeZero(LIMIT));
    assertThat(origin.isCancelled).isFalse();
    reply.write(Unpooled.buffer().writeZero(1));
    assertThat(origin.isCancelled).isTrue();
  }

  @Test
  void aHeadHasNothingToDrop() {
    Reply reply = reply("HEAD");
    reply.head(ResponseHead.of(404), LIMIT + 1);
    reply.end(null);
    assertThat(client.content()).isEmpty();
    assertThat(client.contentLength()).isEqualTo(9);
    assertThat(origin.isCancelled).isFalse();
  }

  @Test
  void aClientThatReadsItsPageSlowlyHoldsNoOriginBack() {
    client.pausedAtOnce();
    reply("GET").head(ResponseHead.of(404), 9);
    assertThat(origin.isPaused).isFalse();
  }

  @Test
  void aClientThatLeavesWithItsPageEndsNothingTwice() {
    client.cancellingAt(1);
    Reply reply = reply("GET");
    reply.head(ResponseHead.of(404), 9);
    reply.end(null);
    assertThat(client.trailers()).isNull();
  }

  @Test
  void withoutAPageTheClientHasTheReins() {
    client.pausedAtOnce();
    Reply reply = reply("GET");
    reply.head(ResponseHead.of(200), 1);
    assertThat(origin.isPaused).isTrue();
    client.source().cancel(Failure.of(Failure.ErrorType.CLIENT_GONE, "gone"));
    assertThat(origin.isCancelled).isTrue();
  }

  /** What the origin gets, opened. */
  private Reply reply(String method) {
    Exchange exchange =
        new Exchange(
            new EmbeddedChannel().eventLoop(),
            ADDRESS,
            ADDRESS,
            RequestHead.of(method, "http://h/a"),
            RequestContent.NONE,
            client);
    Reply[] reply = new Reply[1];
    new RuledHandler(
            behind -> {
              reply[0] = behind.reply();
              reply[0].open(origin);
            },
            HeaderRules.NONE,
            HeaderRules.NONE,
            false,
            "/",
            null,
            PAGES)
        .handle(exchange);
    return reply[0];
  }

  private static final class Reins implements ContentSource {

    private boolean isPaused;
    private boolean isCancelled;

    @Override
    public void pause() {
      isPaused = true;
    }

    @Override
    public void resume() {
      isPaused = false;
    }

    @Override
    public void cancel(Failure why) {
      isCancelled = true;
    }
  }
}
