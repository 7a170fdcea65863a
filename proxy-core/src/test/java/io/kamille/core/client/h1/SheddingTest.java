package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.CommandedLaw;
import io.kamille.core.gate.CommandedLaw.Command;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.Shedder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which requests of a connection an overloaded loop sheds, with a target of 5 ms. */
class SheddingTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long NO_TIMER = -1;

  private final EmbeddedChannel channel =
      new EmbeddedChannel() {
        @Override
        protected SocketAddress remoteAddress0() {
          return new InetSocketAddress(0);
        }

        @Override
        protected SocketAddress localAddress0() {
          return new InetSocketAddress(0);
        }
      };
  private final CommandedLaw law = new CommandedLaw();
  private final Overload overload = new Overload(5 * MILLI, law::at);
  private final Shedder shedder = overload.shedder(channel.eventLoop(), () -> this.polls);
  private final Queue<Exchange> slow = new ArrayDeque<>();
  private long polls;
  private long now;
  private int readsAsked;
  private int handled;

  SheddingTest() {
    channel.freezeTime();
    ServerShard server =
        new ServerShard(
            channel.eventLoop(),
            ClientSettings.DEFAULT,
            1 << 20,
            (configured, leaving) -> configured,
            this::handle,
            (exchange, status, contentBytes, start, end) -> {},
            () -> now,
            () -> 0,
            shedder);
    channel.pipeline().addLast(new AskedReads());
    channel
        .pipeline()
        .addLast(
            new H1ClientConnection(
                new H1Shard(server, HttpsPolicy.NONE),
                Accepted.of(channel, ClientTable.Tally.UNLIMITED),
                false));
  }

  private void handle(Exchange exchange) {
    handled++;
    if (exchange.request().path().equals("/slow")) {
      slow.add(exchange);
    } else {
      TestServer.stored(exchange, exchange.request().path());
    }
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  // How late the loop is to a request

  @Test
  void requestsOfALateReadAreShed() {
    becomeOverloaded();
    beginTurn();
    read(get("/a"));
    assertThat(answers()).contains("HTTP/1.1 200 ");
    othersAreRead(6);
    read(get("/b"));
    assertThat(answers()).contains("HTTP/1.1 503 ");
  }

  @Test
  void aRequestBehindAnotherIsNotLateForThatOnesTime() {
    becomeOverloaded();
    beginTurn();
    read(get("/slow") + get("/a"));
    othersAreRead(100);
    TestServer.stored(slow.remove(), "at last");
    channel.runPendingTasks();
    assertThat(answers()).contains("at last", "/a").doesNotContain("503");
  }

  @Test
  void aRequestBehindAnotherIsShedIfTheLoopComesToItLate() {
    becomeOverloaded();
    beginTurn();
    read(get("/slow") + get("/a"));
    TestServer.stored(slow.remove(), "at last");
    now += 6 * MILLI;
    channel.runPendingTasks();
    assertThat(answers()).contains("at last", "HTTP/1.1 503 ").doesNotContain("/a");
  }

  @Test
  void aRequestThatWasHeldBackIsAnsweredIfTheLoopComesToItInTime() {
    becomeOverloaded();
    shed("/a");
    read(get("/b"));
    for (int i = 0; i < 4_000 && channel.outboundMessages().isEmpty(); i++) {
      pass(1);
    }
    assertThat(answers()).contains("/b").doesNotContain("503");
  }

  @Test
  void aRequestThatWasHeldBackIsShedIfTheLoopComesToItLate() {
    becomeOverloaded();
    shed("/a");
    read(get("/b"));
    pass(4_000);
    assertThat(answers()).contains("HTTP/1.1 503 ").doesNotContain("/b");
  }

  @Test
  void aRequestThatGoesOnAfterAWaitOfItsOwnIsNotLate() {
    becomeOverloaded();
    beginTurn();
    now += 6 * MILLI;
    law.shed(Command.NOTHING);
    read(get("/slow"));
    law.shed(Command.BY_LAW);
    assertThat(overload.refusal(slow.remove())).isNull();
  }

  // What a turn takes of a pipeline

  @Test
  void ofAPipelineATurnTakesSoManyRequestsAndTheLoopPollsInBetween() {
    channel.freezeTime();
    arrives(get("/a").repeat(2 * Pipeline.HEADS_PER_TURN + 1));
    assertThat(handled).isEqualTo(Pipeline.HEADS_PER_TURN);
    assertThat(channel.config().isAutoRead()).isFalse();
    loopPolls();
    assertThat(handled).isEqualTo(2 * Pipeline.HEADS_PER_TURN);
    loopPolls();
    assertThat(handled).isEqualTo(2 * Pipeline.HEADS_PER_TURN + 1);
    channel.runPendingTasks();
    assertThat(channel.config().isAutoRead()).isTrue();
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(NO_TIMER);
  }

  @Test
  void theRestOfAPipelineIsShedIfTheLoopComesBackToItLate() {
    becomeOverloaded();
    channel.freezeTime();
    beginTurn();
    arrives(get("/a").repeat(Pipeline.HEADS_PER_TURN) + get("/b"));
    assertThat(answers()).contains("/a").doesNotContain("503");
    now += 6 * MILLI;
    loopPolls();
    channel.runPendingTasks();
    assertThat(answers()).contains("HTTP/1.1 503 ").doesNotContain("/b");
  }

  /** The loop comes back from its poll, and runs the timers that are due. */
  private void loopPolls() {
    channel.advanceTimeBy(1, TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
  }

  // What a client costs that was shed

  @Test
  void aClientThatObeysCostsNeitherATimerNorAChangeOfWhatIsReadFromIt() {
    read(get("/a"));
    int usual = readsAsked;
    answers();
    shed("/b");
    assertThat(readsAsked).isEqualTo(2 * usual);
    assertThat(channel.config().isAutoRead()).isTrue();
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(NO_TIMER);
    pass(4_000);
    read(get("/c"));
    assertThat(answers()).contains("/c");
    assertThat(readsAsked).isEqualTo(3 * usual);
    assertThat(channel.runScheduledPendingTasks()).isEqualTo(NO_TIMER);
  }

  @Test
  void aClientThatAsksBeforeItsTimeIsNotReadFromUntilThen() {
    shed("/a");
    read(get("/b"));
    assertThat(channel.config().isAutoRead()).isFalse();
    assertThat(channel.runScheduledPendingTasks()).isPositive();
    assertThat(answers()).isEmpty();
    pass(4_000);
    assertThat(answers()).contains("/b");
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  /** The loop has been late for ten seconds. */
  private void becomeOverloaded() {
    for (int i = 0; i < 1_000; i++) {
      beginTurn();
      othersAreRead(10);
    }
  }

  private void beginTurn() {
    polls++;
    othersAreRead(0);
  }

  private void othersAreRead(long millis) {
    now += millis * MILLI;
    shedder.read(now);
    shedder.done();
  }

  /** A request that is shed by command. */
  private void shed(String path) {
    law.shed(Command.EVERYTHING);
    read(get(path));
    law.shed(Command.BY_LAW);
    assertThat(answers()).contains("HTTP/1.1 503 ");
  }

  private static String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }

  private void read(String octets) {
    channel.writeInbound(Unpooled.copiedBuffer(octets, StandardCharsets.US_ASCII));
  }

  /** As {@link #read}, but what the loop does afterwards is still to come. */
  private void arrives(String octets) {
    channel.pipeline().fireChannelRead(Unpooled.copiedBuffer(octets, StandardCharsets.US_ASCII));
    channel.pipeline().fireChannelReadComplete();
  }

  private void pass(long millis) {
    now += millis * MILLI;
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    channel.runPendingTasks();
  }

  private String answers() {
    StringBuilder text = new StringBuilder();
    for (Object message = channel.readOutbound();
        message != null;
        message = channel.readOutbound()) {
      ByteBuf octets = (ByteBuf) message;
      text.append(octets.toString(StandardCharsets.US_ASCII));
      octets.release();
    }
    return text.toString();
  }

  /** What a socket would be told to watch for. */
  private final class AskedReads extends ChannelOutboundHandlerAdapter {

    @Override
    public void read(ChannelHandlerContext context) {
      readsAsked++;
      context.read();
    }
  }
}
