package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.check.GivenContent;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MirrorHandlerTest {

  private static final ExchangeHandler ANSWERS =
      exchange -> {
        exchange.reply().head(ResponseHead.of(200), 0);
        exchange.reply().end(null);
      };

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final LongAdder dropped = new LongAdder();
  private final List<Exchange> copies = new ArrayList<>();

  @AfterEach
  void close() {
    channel.close();
  }

  @Test
  void theFirstAnswersAndTheMirrorGetsACopyOfItsOwn() {
    MirrorHandler handler =
        mirror(
            exchange -> {
              ANSWERS.handle(exchange);
              exchange.request().clear();
            });
    RecordingReply reply = send(handler, "GET", RequestContent.NONE);
    assertThat(reply.head().status()).isEqualTo(200);
    assertThat(copies).hasSize(1);
    assertThat(copies.getFirst().request().target()).isEqualTo("/a?b");
    assertThat(copies.getFirst().reply()).isNotSameAs(reply);
  }

  @Test
  void aMirrorThatNeverAnswersHoldsABoundedNumberOfCopies() {
    MirrorHandler handler = mirror(ANSWERS);
    for (int i = 0; i < MirrorHandler.MOST_UNDER_WAY + 44; i++) {
      assertThat(send(handler, "GET", RequestContent.NONE).isEnded()).isTrue();
    }
    assertThat(copies).hasSize(MirrorHandler.MOST_UNDER_WAY);
    assertThat(dropped.sum()).isEqualTo(44);
    copies.forEach(copy -> copy.reply().fail(Failure.of(ErrorType.HTTP_RESPONSE_TIMEOUT, "late")));
    assertThat(handler.underWay()).isZero();
    send(handler, "GET", RequestContent.NONE);
    assertThat(copies).hasSize(MirrorHandler.MOST_UNDER_WAY + 1);
  }

  @Test
  void aMirrorThatFailsInAnyWayBreaksNothing() {
    MirrorHandler handler =
        new MirrorHandler(
            ANSWERS,
            copy -> {
              throw new IllegalStateException("a bug, for the test");
            },
            dropped);
    assertThat(send(handler, "GET", RequestContent.NONE).head().status()).isEqualTo(200);
    assertThat(handler.underWay()).isZero();
  }

  @Test
  void aFirstThatFailsByAFaultLeavesNoCopyCounted() {
    MirrorHandler handler =
        mirror(
            exchange -> {
              throw new IllegalStateException("a bug, for the test");
            });
    assertThatThrownBy(() -> send(handler, "GET", RequestContent.NONE)).hasMessageContaining("bug");
    assertThat(handler.underWay()).isZero();
  }

  @Test
  void aMirrorThatFloodsIsCutOff() {
    MirrorHandler handler = mirror(ANSWERS);
    send(handler, "GET", RequestContent.NONE);
    var source = new Cancelled();
    var reply = copies.getFirst().reply();
    reply.open(source);
    reply.head(ResponseHead.of(200), 10_000_000);
    for (int i = 0; i < 20; i++) {
      reply.write(Unpooled.buffer().writeZero(100_000));
    }
    assertThat(source.why.get()).isNotNull();
    reply.abort(Failure.of(ErrorType.CONNECTION_TERMINATED, "over"));
    assertThat(handler.underWay()).isZero();
  }

  @Test
  void whatMayChangeAnythingOrHasContentIsNotCopied() {
    MirrorHandler handler = mirror(ANSWERS);
    send(handler, "DELETE", RequestContent.NONE);
    send(handler, "POST", RequestContent.NONE);
    send(handler, "GET", new GivenContent(Unpooled.buffer()));
    send(handler, "GET", RequestContent.NONE, "Upgrade", "websocket");
    assertThat(copies).isEmpty();
    assertThat(handler.underWay()).isZero();
  }

  private MirrorHandler mirror(ExchangeHandler first) {
    return new MirrorHandler(first, copies::add, dropped);
  }

  private RecordingReply send(
      ExchangeHandler handler, String method, RequestContent content, String... fields) {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
    RecordingReply reply = new RecordingReply();
    RequestHead head = RequestHead.of(method, "http://example.org/a?b", fields);
    handler.handle(new Exchange(channel.eventLoop(), address, address, head, content, reply));
    return reply;
  }

  private static final class Cancelled implements ContentSource {

    private final AtomicReference<@Nullable Failure> why = new AtomicReference<>();

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure failure) {
      why.set(failure);
    }
  }
}
