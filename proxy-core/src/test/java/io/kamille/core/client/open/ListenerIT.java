package io.kamille.core.client.open;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Sections;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.unix.IntegerUnixChannelOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ListenerIT {

  private final TestServer server = new TestServer(ClientSettings.DEFAULT, 2);

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void twoLoopsShareOnePort() {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    server.on(
        "/",
        exchange -> {
          threads.add(Thread.currentThread());
          TestServer.stored(exchange, "ok");
        });
    for (int i = 0; i < 200 && threads.size() < 2; i++) {
      assertThat(server.connect().get("/").answer().content()).isEqualTo("ok");
    }
    assertThat(threads).hasSize(2);
  }

  @Test
  void anOccupiedPortIsSaidInOneSentence() {
    int port = server.address().getPort();
    assertThatThrownBy(() -> open(server.address()))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot listen on 127.0.0.1:" + port + ": Address already in use");
  }

  @Test
  void aPortOccupiedBySomebodyElseIsSaidToo() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> open((InetSocketAddress) other.getLocalSocketAddress()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(":" + other.getLocalPort() + ": Address already in use");
    }
  }

  @Test
  void anUnknownHostIsSaidInOneSentence() {
    assertThatThrownBy(() -> open(InetSocketAddress.createUnresolved("no.such.host.invalid", 80)))
        .isInstanceOf(IOException.class)
        .hasMessage("cannot listen on no.such.host.invalid: unknown host");
  }

  @Test
  void anAddressOfSomebodyElseIsSaidInOneSentence() {
    assertThatThrownBy(() -> open(new InetSocketAddress("192.0.2.1", 80)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("cannot listen on 192.0.2.1:80: ");
  }

  /**
   * A paced loop polls seldom: who waits in the kernel's queue then must not wait for many polls.
   */
  @Test
  void manyWhoConnectedMeanwhileAreAcceptedInOneTurn() throws Exception {
    int many = 50;
    try (TestServer single = new TestServer(ClientSettings.DEFAULT, 1)) {
      var accepted = new AtomicInteger();
      var acceptedAtOnce = new CompletableFuture<Integer>();
      Channel socket = single.listener().sockets().getFirst();
      var loopMayGoOn = new CountDownLatch(1);
      socket
          .pipeline()
          .addFirst(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object child) {
                  accepted.incrementAndGet();
                  context.fireChannelRead(child);
                }

                @Override
                public void channelReadComplete(ChannelHandlerContext context) {
                  acceptedAtOnce.complete(accepted.get());
                  context.fireChannelReadComplete();
                }
              });
      var loopStands = new CountDownLatch(1);
      socket
          .eventLoop()
          .execute(
              () -> {
                loopStands.countDown();
                awaitPatiently(loopMayGoOn);
              });
      awaitPatiently(loopStands);
      for (int i = 0; i < many; i++) {
        single.connect();
      }
      loopMayGoOn.countDown();
      assertThat(acceptedAtOnce.get(60, TimeUnit.SECONDS)).isEqualTo(many);
    }
  }

  private static void awaitPatiently(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Listener open(InetSocketAddress address) throws IOException {
    return open(address, 0);
  }

  private Listener open(InetSocketAddress address, int notSentLowWatermark) throws IOException {
    HostPort where = new HostPort(address.getHostString(), address.getPort());
    return Listener.open(
        Sections.of(ListenerSettings.SECTION, "{address: '%s'}", where),
        server.loops(),
        new ConnectionLimit("limits.connections", 1, IdleTimeoutGovernor.OFF),
        server.admitted(),
        null,
        null,
        notSentLowWatermark,
        List.of());
  }

  @Test
  void evenTheFirstClientHasABoundOnUnsentContent() throws IOException {
    try (Listener listener =
        open(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16 << 10)) {
      assertThat(listener.sockets())
          .allSatisfy(
              socket ->
                  assertThat(
                          socket
                              .config()
                              .getOption(new IntegerUnixChannelOption("TCP_NOTSENT_LOWAT", 6, 25)))
                      .isEqualTo(16 << 10));
    }
  }

  @Test
  void connectionsOverTheLimitAreClosedAndCounted() {
    server.limiter().limit(2, IdleTimeoutGovernor.OFF);
    Set<Exchange> waiting = ConcurrentHashMap.newKeySet();
    server.on("/", waiting::add);
    TestClient first = server.connect().get("/");
    server.connect().get("/");
    Await.until(() -> waiting.size() == 2, "both requests");
    TestClient third = server.connect();
    assertThat(third.isAtEnd()).isTrue();
    assertThat(server.limiter().refused()).isEqualTo(1);
    Await.until(() -> server.limiter().open() == 2, "the third to be forgotten");
    first.reset();
    Await.until(() -> server.limiter().open() == 1, "a free place");
    assertThat(server.connect().get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void whoHasItsLastAnswerWholeAndDoesNotCloseYieldsToANewConnection() {
    try (TestServer single = new TestServer(ClientSettings.DEFAULT, 1)) {
      single.limiter().limit(1, IdleTimeoutGovernor.OFF);
      TestClient last = single.connect().get("/a", "Connection: close");
      assertThat(last.answer().content()).isEqualTo("/a");
      assertThat(last.isAtEnd()).isTrue();
      // Its kernel takes a moment to acknowledge our end; no time passes by the server's clock.
      Await.until(() -> isServed(single), "a place");
    }
  }

  @Test
  void whoHasNotGotItsLastAnswerWholeDoesNot() {
    try (TestServer single = new TestServer(ClientSettings.DEFAULT, 1)) {
      single.limiter().limit(1, IdleTimeoutGovernor.OFF);
      String large = "x".repeat(40 << 10);
      single.on("/large", exchange -> TestServer.stored(exchange, large));
      try (TestClient slow = TestClient.connect(single.address(), 4_096)) {
        slow.get("/large", "Connection: close").readUntil("\r\n\r\n");
        assertThat(single.connect().isAtEnd()).isTrue();
        assertThat(slow.read(large.length())).isEqualTo(large);
      }
    }
  }

  private static boolean isServed(TestServer server) {
    try {
      return server.connect().get("/b").answer().content().equals("/b");
    } catch (UncheckedIOException refused) {
      return false;
    }
  }

  /** As accept does when there is no descriptor for the connection (EMFILE). */
  @Test
  void whereNoConnectionCanBeAcceptedIdleOnesYieldAndSoonOthersAreServedAgain() {
    TestClient idle = server.connect();
    idle.get("/").answer();
    server.settle();
    server
        .listener()
        .sockets()
        .forEach(
            socket -> socket.pipeline().fireExceptionCaught(new IOException("no descriptor left")));
    assertThat(idle.isAtEnd()).isTrue();
    assertThat(server.connect().get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void aListenerThatIsClosedAcceptsNoMoreAndKeepsWhatIsOpen() {
    TestClient client = server.connect();
    client.get("/").answer();
    server.listener().close();
    assertThatThrownBy(server::connect).hasRootCauseInstanceOf(IOException.class);
    assertThat(client.get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void aDrainClosesWhatIsIdleAndLetsTheRestFinish() {
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    List<TestClient> idle = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      TestClient client = server.connect();
      client.get("/idle").answer();
      idle.add(client);
    }
    TestClient active = server.connect();
    active.get("/").get("/never");
    TestClient begun = server.connect();
    // In one segment: whoever has the first answer knows that the second head has begun.
    begun.send("GET /idle HTTP/1.1\r\nHost: a\r\n\r\nGET /begun HTTP/1.1\r\nHo");
    begun.answer();
    Await.until(() -> waiting.get() != null, "the request");
    Await.until(() -> server.limiter().open() == 6, "all connections");
    server.settle();

    server.loops().forEach(loop -> loop.drain(Duration.ZERO));
    for (TestClient client : idle) {
      assertThat(client.isAtEnd()).isTrue();
    }
    Exchange exchange = Objects.requireNonNull(waiting.get());
    exchange.loop().execute(() -> TestServer.stored(exchange, "finished"));
    Answer answer = active.answer();
    assertThat(answer.content()).isEqualTo("finished");
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(active.isAtEnd()).isTrue();
    begun.send("st: a\r\n\r\n");
    assertThat(begun.answer().field("Connection")).isEqualTo("close");
    assertThat(begun.isAtEnd()).isTrue();
  }
}
