package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.open.ConnectionLimit;
import io.kamille.core.client.open.IdleTimeoutGovernor;
import io.kamille.core.client.open.Listener;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.client.open.ProxyProtocolSettings;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.gate.ClientLimits;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.OverloadLaw;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A listener on loopback whose handlers are chosen by path, and whose clock is moved by hand. */
public final class TestServer implements AutoCloseable {

  public static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Patience in round numbers, small watermarks, small heads. */
  public static final ClientSettings SETTINGS =
      Sections.copy(
              Sections.of(
                  ClientSettings.SECTION,
                  """
                  idle-timeout: 60s
                  tunnel-timeout: 10m
                  half-closed: on
                  min-rate: none
                  """))
          .with("head", new HeadLimits(1024, 20, 4096))
          .with("lowWatermarkBytes", 32 * 1024)
          .with("highWatermarkBytes", 64 * 1024)
          .record();

  /** As those, but patient with content, and takers must take 500 octets a second, in each 30 s. */
  public static ClientSettings withDownloadRate() {
    return Sections.copy(SETTINGS)
        .with("contentTimeout", Duration.ofMinutes(10))
        .with("minBytesPerSecond", 500)
        .record();
  }

  /** As those, but half-closed clients are answered or not. */
  static ClientSettings withHalfClosed(boolean answersHalfClosed) {
    return Sections.copy(SETTINGS).with("answersHalfClosed", answersHalfClosed).record();
  }

  /** What the observer was told. */
  public record Ended(String target, int status, long contentBytes) {}

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000);
  private final Map<String, ExchangeHandler> handlers = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<Ended> ended = new ConcurrentLinkedQueue<>();
  private final ClientTable admitted =
      new ClientTable(ClientLimits.NONE, AddressMask.FULL, nanos::get);
  private final ConnectionLimit limiter =
      new ConnectionLimit("limits.connections", 1_000, IdleTimeoutGovernor.OFF);
  private final List<ServerShard> server = new ArrayList<>();
  private final List<TestClient> clients = new ArrayList<>();
  private volatile boolean observerIsFaulty;
  private final LoopGroup group;
  private final Listener listener;

  public TestServer() {
    this(SETTINGS, 1);
  }

  public TestServer(ClientSettings settings, int loops) {
    this(settings, loops, Protocols.H1);
  }

  /** One that speaks these versions. */
  public TestServer(ClientSettings settings, int loops, Protocols protocols) {
    this(settings, loops, protocols, ProxyProtocolSettings.OFF);
  }

  /** One where heads of which only a part has come may take so much, and those under way, too. */
  public static TestServer withRoomForHeads(long bytes, Protocols protocols) {
    return new TestServer(
        SETTINGS,
        bytes,
        1,
        settings(protocols, AccessList.ALL, ProxyProtocolSettings.OFF),
        null,
        null);
  }

  /** One that speaks these versions, behind load balancers or not. */
  public TestServer(
      ClientSettings settings,
      int loops,
      Protocols protocols,
      ProxyProtocolSettings proxyProtocol) {
    this(settings, loops, settings(protocols, AccessList.ALL, proxyProtocol), null, null);
  }

  /** One with its own listener, over TLS or not; perhaps authorities ask it. */
  public TestServer(
      ClientSettings settings,
      int loops,
      ListenerSettings own,
      @Nullable ServerTls tls,
      @Nullable Challenges challenges) {
    this(settings, 1 << 20, loops, own, tls, challenges);
  }

  private TestServer(
      ClientSettings settings,
      long roomForHeadsBytes,
      int loops,
      ListenerSettings own,
      @Nullable ServerTls tls,
      @Nullable Challenges challenges) {
    group = new LoopGroup(loops);
    Overload never = new Overload(0, OverloadLaw::new);
    for (EventLoop loop : group.loops()) {
      server.add(
          new ServerShard(
              loop,
              settings,
              roomForHeadsBytes,
              limiter,
              this::handle,
              (exchange, status, contentBytes, start, end) -> ended(exchange, status, contentBytes),
              nanos::get,
              () -> 0L,
              never.shedder(loop, () -> 0)));
    }
    try {
      listener = Listener.open(own, server, limiter, admitted, tls, challenges, 0, List.of());
    } catch (IOException failed) {
      group.close();
      throw new UncheckedIOException(failed);
    }
  }

  /** Of a listener on loopback. */
  public static ListenerSettings settings(
      Protocols protocols, AccessList access, ProxyProtocolSettings proxyProtocol) {
    return Sections.copy(Sections.of(ListenerSettings.SECTION, "{address: '127.0.0.1:0'}"))
        .with("access", access)
        .with("protocols", protocols)
        .with("proxyProtocol", proxyProtocol)
        .record();
  }

  /** Lets these clients in, from now on. */
  public void access(AccessList access) {
    listener.settings(settings(Protocols.H1, access, ProxyProtocolSettings.OFF));
  }

  private void handle(Exchange exchange) {
    ExchangeHandler handler = handlers.get(exchange.request().path());
    if (handler == null) {
      stored(exchange, exchange.request().path());
    } else {
      handler.handle(exchange);
    }
  }

  private void ended(Exchange exchange, int status, long contentBytes) {
    if (observerIsFaulty) {
      throw new IllegalStateException("a fault of the observer, for this test");
    }
    ended.add(new Ended(exchange.request().target(), status, contentBytes));
  }

  /** Whether the observer throws from now on. */
  void observerIsFaulty(boolean faulty) {
    observerIsFaulty = faulty;
  }

  /** What answers this path; other paths are answered from the store with their own text. */
  public void on(String path, ExchangeHandler handler) {
    handlers.put(path, handler);
  }

  public InetSocketAddress address() {
    return listener.address();
  }

  public Listener listener() {
    return listener;
  }

  public ConnectionLimit limiter() {
    return limiter;
  }

  public ClientTable admitted() {
    return admitted;
  }

  public List<ServerShard> loops() {
    return server;
  }

  /** How often the loops have polled. */
  long polls() {
    long polls = 0;
    for (int i = 0; i < server.size(); i++) {
      polls += group.polls(i);
    }
    return polls;
  }

  public TestClient connect() {
    TestClient client = TestClient.connect(address());
    clients.add(client);
    return client;
  }

  /** A client that accepts no more than this before it reads. */
  TestClient connect(int receiveBufferBytes) {
    TestClient client = TestClient.connect(address(), receiveBufferBytes);
    clients.add(client);
    return client;
  }

  /** Everything the observer was told, oldest first. */
  public List<Ended> ended() {
    return List.copyOf(ended);
  }

  /** Lets time pass and the loops look at their deadlines. */
  public void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
    sweep();
  }

  public void sweep() {
    for (ServerShard loop : server) {
      onLoop(loop, loop::sweep);
    }
  }

  /** Waits until the loops have done all that was asked of them before, and read what was sent. */
  public void settle() {
    for (int i = 0; i < server.size(); i++) {
      long before = pollsByTask(i);
      // A task alone may run behind others of one turn, before the loop looks at its sockets.
      while (pollsByTask(i) == before) {
        Thread.onSpinWait();
      }
    }
  }

  private long pollsByTask(int index) {
    AtomicLong polls = new AtomicLong();
    onLoop(server.get(index), () -> polls.set(group.polls(index)));
    return polls.get();
  }

  public int connections() {
    return server.stream().mapToInt(shard -> shard.connections().open()).sum();
  }

  private static void onLoop(ServerShard loop, Runnable task) {
    assertThat(loop.loop().submit(task).awaitUninterruptibly(LIMIT_NANOS, TimeUnit.NANOSECONDS))
        .as("the loop is stuck")
        .isTrue();
  }

  @Override
  public void close() {
    clients.forEach(TestClient::close);
    listener.close();
    server.forEach(ServerShard::closeAll);
    Await.until(() -> connections() == 0, "connections left");
    group.close();
  }

  // Answers

  /** Answers from the store, as a hit does. */
  public static void stored(Exchange exchange, String content) {
    byte[] own = "Age: 1\r\n".getBytes(StandardCharsets.US_ASCII);
    boolean head = exchange.request().method() == io.kamille.core.http.Method.HEAD;
    String rest = "Content-Length: " + content.length() + "\r\n\r\n" + (head ? "" : content);
    exchange.reply().stored(200, own, own.length, octets(rest), head ? 0 : content.length());
  }

  /** Answers chunk by chunk. */
  public static void answer(Reply reply, int status, long length, String... chunks) {
    reply.head(ResponseHead.of(status, "A", "b"), length);
    for (String chunk : chunks) {
      reply.write(octets(chunk));
    }
    reply.end(null);
  }

  public static ByteBuf octets(String text) {
    byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
    return Unpooled.directBuffer(octets.length).writeBytes(octets);
  }
}
