package io.kamille.core.origin.send;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** An upstream handler on a loop of its own, whose clock only the test moves. */
public final class UpstreamFixture implements AutoCloseable {

  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.7", 40000);
  private static final InetSocketAddress LOCAL = new InetSocketAddress("192.0.2.1", 80);

  static final int ROOM_BYTES = 1 << 20;

  public final ManualClock clock = ManualClock.atSeconds(0);
  final MetricRegistry registry = new MetricRegistry();
  public final List<Origin> origins = new ArrayList<>();
  private final LoopGroup loops = new LoopGroup(1);
  private final OriginNames names = OriginNames.open(DnsLookup::new, registry);
  final Spool uploads;
  private final UpstreamMetrics metrics;
  private final UpstreamHandler handler;

  public UpstreamFixture(UpstreamSettings settings, ScriptedOrigin... scripted) {
    this(settings, ports(scripted));
  }

  public UpstreamFixture(UpstreamSettings settings, int... ports) {
    this(settings, LoopGroup.sockets(), ports);
  }

  public UpstreamFixture(UpstreamSettings settings, Connector connector, int... ports) {
    this(settings, null, connector, Spool.Disk.NONE, ports);
  }

  /** Content waits in files, too. */
  UpstreamFixture(UpstreamSettings settings, Spool.Disk disk, ScriptedOrigin... scripted) {
    this(settings, null, LoopGroup.sockets(), disk, ports(scripted));
  }

  /** Origins that speak TLS. */
  public UpstreamFixture(UpstreamSettings settings, OriginTls tls, ScriptedOrigin... scripted) {
    this(settings, tls, LoopGroup.sockets(), Spool.Disk.NONE, ports(scripted));
  }

  private UpstreamFixture(
      UpstreamSettings settings,
      @Nullable OriginTls tls,
      Connector connector,
      Spool.Disk disk,
      int... ports) {
    uploads = new Spool(ROOM_BYTES, disk, registry);
    for (int port : ports) {
      origins.add(settings.origin(new OriginUrl(tls != null, "127.0.0.1", port), 1));
    }
    names.watch(origins);
    metrics = new UpstreamMetrics(registry, "test", origins);
    handler = new UpstreamHandler(settings, origins, tls, connector, clock, uploads, metrics);
  }

  /** Gives the upstream these origins in place of those that it has. */
  void change(List<Origin> others) throws Exception {
    metrics.expect(others);
    names.watch(others);
    handler.origins(others);
    metrics.origins(others);
    onLoop(() -> null);
  }

  /** The same, but a request takes a connection before its content is there. */
  static UpstreamSettings unbuffered(UpstreamSettings settings) {
    return Sections.copy(settings)
        .with("pool.uploadBufferBytes", 0)
        .with("pool.responseBufferBytes", 0)
        .record();
  }

  private static int[] ports(ScriptedOrigin... scripted) {
    int[] ports = new int[scripted.length];
    for (int i = 0; i < ports.length; i++) {
      ports[i] = scripted[i].port();
    }
    return ports;
  }

  EventLoop loop() {
    return loops.loops().getFirst();
  }

  public RecordingReply send(String method, String uri, String... namesAndValues) {
    return send(RequestHead.of(method, uri, namesAndValues), RequestContent.NONE);
  }

  public RecordingReply send(RequestHead head, RequestContent content) {
    return send(head, content, new RecordingReply());
  }

  public RecordingReply send(RequestHead head, RequestContent content, RecordingReply reply) {
    loop().execute(() -> handler.handle(exchange(head, content, reply)));
    return reply;
  }

  /** The reply to a GET, once it has ended and its connection is back in the pool. */
  public RecordingReply get(String path) throws Exception {
    RecordingReply reply = await(send("GET", "http://example.org" + path).ended());
    onLoop(() -> null);
    return reply;
  }

  private Exchange exchange(RequestHead head, RequestContent content, RecordingReply reply) {
    return new Exchange(loop(), CLIENT, LOCAL, head, content, reply);
  }

  /** The sum of all that a counter or gauge shows. */
  double metric(MetricDescriptor descriptor) {
    return registry.read().stream()
        .filter(family -> family.descriptor().equals(descriptor))
        .flatMap(family -> family.samples().stream())
        .mapToDouble(MetricFamily.Sample::value)
        .sum();
  }

  /** Runs on the loop, after everything that happened before. */
  public <T> T onLoop(Callable<T> callable) throws Exception {
    return loop().submit(callable).get(60, SECONDS);
  }

  public static <T> T await(Future<T> future) throws Exception {
    return future.get(60, SECONDS);
  }

  void retire() {
    handler.close();
  }

  @Override
  public void close() {
    handler.close();
    names.close();
    loops.close();
  }
}
