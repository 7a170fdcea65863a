package io.kamille.launcher.appliance;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.otlp.TraceExporter;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.open.ConnectionLimit;
import io.kamille.core.client.open.ConnectionMetrics;
import io.kamille.core.client.open.Listener;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeMetrics;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.gate.AdmissionMetrics;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.Shedder;
import io.kamille.core.log.AccessLog;
import io.kamille.core.log.LoopTop;
import io.kamille.core.log.RequestSample;
import io.kamille.core.log.RequestSampler;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.Network;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.trace.LoopTracer;
import io.kamille.core.trace.Tracing;
import io.kamille.launcher.acme.CertificateKeeper;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.service.InheritedSockets;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where clients come in: the listeners, what each loop knows of their connections, and the limits
 * that hold for them. Any thread once it is open; one reload at a time.
 */
final class ClientSide {

  /**
   * As an eighth of the heap each, unfinished heads and those under way leave enough for the rest.
   */
  private static final int ROOM_FOR_HEADS_PART = 8;

  /** The longest that a collector of traces may take. */
  private static final Duration EXPORT_PERIOD = Duration.ofSeconds(1);

  private static final Duration EXPORT_LIMIT = Duration.ofSeconds(5);

  private static final long RELOAD_WAIT_MILLIS = 5_000;
  private static final long DRAIN_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * One listener.
   *
   * @param address host and port it is bound to
   * @param connections open now
   * @param certificateExpires when the first of its certificates does (RFC 3339); null without TLS
   */
  record ListenerSnapshot(String address, long connections, @Nullable String certificateExpires) {}

  /**
   * One loop.
   *
   * @param name of its thread
   * @param requests since the start
   * @param connections of clients, open now
   * @param cpuSeconds its thread has used
   */
  record LoopSnapshot(String name, long requests, long connections, double cpuSeconds) {}

  private final Preflight preflight;
  private final LoopGroup loops;
  private final MetricRegistry registry;
  private final ConnectionLimit limiter;
  private final ClientTable clients;
  private final BufferTuner tuner;
  private final List<ExchangeMetrics> exchanges = new ArrayList<>();
  private final List<ServerShard> shards = new ArrayList<>();
  // Read by the control plane while they are made.
  private final List<RequestSampler> samplers = new CopyOnWriteArrayList<>();
  private final List<LoopTop> tops = new CopyOnWriteArrayList<>();
  private final List<RouteTraffic> traffics = new CopyOnWriteArrayList<>();
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();
  private final Tracing tracing;
  private @Nullable TraceExporter exporter;
  // Volatile: opened once, read by whoever hands sockets over.
  private volatile @Nullable PeerSide peerSide;
  private final TlsListeners tls;
  // Volatile: opened with the listeners, read by the control plane.
  private volatile @Nullable CertificateKeeper certificates;
  // Volatile: written by whoever reloads, read by the metrics page.
  private volatile Configuration running;

  /**
   * Nothing is open yet.
   *
   * @param secret of all nodes of the cluster; null without one
   */
  ClientSide(
      Configuration configuration,
      Preflight preflight,
      LoopGroup loops,
      MetricRegistry registry,
      @Nullable ClusterSecret secret) {
    tls = new TlsListeners(secret == null ? null : secret::key, InstantSource.system());
    this.preflight = preflight;
    this.loops = loops;
    this.registry = registry;
    running = configuration;
    tracing = new Tracing(configuration.tracing(), WallClock.system());
    limiter =
        new ConnectionLimit(
            "limits.connections",
            preflight.connections(configuration.limits().connections()),
            configuration.limits().idleThreshold());
    clients =
        new ClientTable(
            configuration.limits().client(),
            configuration.log().access().client(),
            System::nanoTime);
    tuner = BufferTuner.open(configuration.tuning(), sendBuffer(configuration), registry);
  }

  /** What a connection has that nobody tunes. */
  private static SendBuffer sendBuffer(Configuration configuration) {
    ClientSettings settings = configuration.limits().connection();
    return new SendBuffer(0, 0, settings.lowWatermarkBytes(), settings.highWatermarkBytes());
  }

  /**
   * Makes what each loop knows of connections.
   *
   * @param entrance the station that every request comes to first
   */
  void startShards(Overload overload, ExchangeHandler entrance, @Nullable AccessLog accessLog) {
    for (EventLoop loop : loops.loops()) {
      int number = shards.size();
      Shedder shedder = overload.shedder(loop, () -> loops.polls(number));
      AdmissionMetrics.register(registry, shedder, loops.name(number));
      LoopTracer tracer =
          tracing.forLoop(accessLog == null ? entrance : accessLog.before(entrance));
      ServerShard shard =
          new ServerShard(
              loop,
              running.limits().connection(),
              roomForHeadsBytes(Runtime.getRuntime().maxMemory(), running.loops()),
              limiter,
              tracer,
              observer(accessLog).and(tracer),
              System::nanoTime,
              () -> System.currentTimeMillis() / 1000,
              shedder);
      shard.sampledBy(tuner.sampler(loop));
      shard.start();
      loops.answered(number, exchanges.getLast()::answers);
      shards.add(shard);
    }
    AdmissionMetrics.register(registry, clients);
    AdmissionMetrics.register(registry, overload);
    ConnectionMetrics.register(
        registry,
        limiter,
        clients,
        shards,
        () -> running.limits().connection().idleTimeout().toNanos());
  }

  /** The TLS of the control plane, which stays ours; null if it speaks none. */
  @Nullable ServerTls adminTls() throws StartFailure {
    return tls.open(running.admin());
  }

  /**
   * Listens, on the sockets that listen already where there are any, or on those it is given.
   *
   * @param shared what the nodes of the cluster have; null without one
   */
  void listen(InheritedSockets sockets, Network network, @Nullable Supplier<SharedValues> shared)
      throws StartFailure {
    // First, so that not even the first client is without a bound.
    tuner.start(bytes -> listeners.forEach(listener -> listener.notSentLowWatermark(bytes)));
    Challenges challenges = openKeeper(shared);
    for (ListenerSettings settings : running.listeners()) {
      try {
        ServerTls encryption = tls.open(settings, running);
        Listener listener =
            Listener.open(
                settings,
                shards,
                limiter,
                clients,
                encryption,
                settings.tls().isOn() && running.orderedNames(settings).isEmpty()
                    ? null
                    : challenges,
                tuner.notSentLowWatermark(),
                sockets(settings, sockets, network));
        listeners.add(listener);
        // Settings may have come by the API since it was opened.
        tuner.announce();
        ConnectionMetrics.register(registry, listener, settings.name());
        if (encryption != null) {
          ConnectionMetrics.register(registry, encryption, settings.name());
        }
      } catch (IOException failed) {
        throw new StartFailure(StartFailure.Cause.ADDRESS, String.valueOf(failed.getMessage()));
      }
    }
    CertificateKeeper keeper = certificates;
    if (keeper != null) {
      keeper.start(tls::ordered);
    }
  }

  /** Listens to other nodes of the cluster, on the loops of clients. */
  void listenToPeers(
      ExchangeHandler entrance,
      @Nullable AccessLog accessLog,
      InheritedSockets sockets,
      Network network)
      throws StartFailure {
    ListenerSettings settings = PeerSide.listener(running.cluster());
    try {
      PeerSide opened =
          PeerSide.open(
              settings,
              shards,
              running.limits().connection(),
              entrance,
              accessLog,
              tls.open(settings, running),
              sockets(settings, sockets, network));
      ConnectionMetrics.ofNodes(registry, opened.limit());
      peerSide = opened;
    } catch (IOException failed) {
      throw new StartFailure(StartFailure.Cause.ADDRESS, String.valueOf(failed.getMessage()));
    }
  }

  /** Where other nodes reach us, with the port the kernel chose; nothing if none do. */
  Optional<String> peersListening() {
    return peerSide().map(side -> HostPort.text(side.listener().address()));
  }

  private Optional<PeerSide> peerSide() {
    return Optional.ofNullable(peerSide);
  }

  /** What keeps certificates, and what authorities may ask; null if none is ordered. */
  private @Nullable Challenges openKeeper(@Nullable Supplier<SharedValues> shared)
      throws StartFailure {
    if (running.orderedNames().isEmpty()) {
      return null;
    }
    try {
      Challenges challenges = new Challenges();
      CertificateKeeper keeper =
          CertificateKeeper.open(
              running.acme(),
              running.orderedNames(),
              running.answersInClear(),
              challenges,
              shared,
              registry);
      tls.order(keeper);
      certificates = keeper;
      return challenges;
    } catch (IOException refused) {
      throw new StartFailure(
          StartFailure.Cause.FILE,
          "cannot use " + running.acme().store() + ": " + refused.getMessage());
    }
  }

  /** What keeps certificates; nothing if none is ordered. */
  Optional<CertificateKeeper> certificates() {
    return Optional.ofNullable(certificates);
  }

  private List<Integer> sockets(
      ListenerSettings settings, InheritedSockets inherited, Network network) throws IOException {
    List<Integer> listening = inherited.take(settings.address().socketAddress());
    return listening.isEmpty()
        ? network.listen(settings.address(), Listener.BACKLOG, shards.size())
        : listening;
  }

  /**
   * What one loop tells of its exchanges: metrics, access log, routes and samples, as far as
   * wanted.
   */
  private ExchangeObserver observer(@Nullable AccessLog accessLog) {
    ExchangeMetrics metrics = ExchangeMetrics.forLoop(registry);
    exchanges.add(metrics);
    ExchangeObserver observer = accessLog == null ? metrics : metrics.and(accessLog.forLoop());
    AdminSettings admin = running.admin();
    if (admin.address().isEmpty()) {
      return observer;
    }
    RouteTraffic traffic = new RouteTraffic();
    traffics.add(traffic);
    LoopTop top = new LoopTop(running.log().access().client());
    tops.add(top);
    ExchangeObserver counted = observer.and(traffic).and(top);
    if (admin.requestSamples() == 0) {
      return counted;
    }
    RequestSampler sampler =
        new RequestSampler(samplers.size() + 1, admin.requestSamples(), WallClock.system());
    samplers.add(sampler);
    return counted.and(sampler);
  }

  /** The listeners as they are configured. Any thread. */
  List<ListenerSettings> listeners() {
    return running.listeners();
  }

  /** Some of the last requests, in no order. Any thread. */
  List<RequestSample> samples() {
    return samplers.stream().flatMap(sampler -> sampler.samples().stream()).toList();
  }

  /** What is asked for most, by its octets, one per character. Any thread. */
  Map<String, Long> top(LoopTop.Ranking kind) {
    Map<String, Long> counts = new HashMap<>();
    tops.forEach(top -> top.addTo(counts, kind));
    return counts;
  }

  /** A loop's part of what unfinished heads may take, and of what those under way may. */
  static long roomForHeadsBytes(long heapBytes, int loops) {
    return heapBytes / ROOM_FOR_HEADS_PART / loops;
  }

  /**
   * Goes by the limits and access lists of this configuration, for what begins from now on.
   *
   * @return how many loops have not taken them in time
   */
  int reload(Configuration next, Runnable certificates) {
    if (!next.tuning().equals(running.tuning())) {
      tuner.settings(next.tuning());
    }
    running = next;
    tracing.settings(next.tracing());
    limiter.limit(
        preflight.connections(next.limits().connections()), next.limits().idleThreshold());
    clients.limits(next.limits().client());
    for (int i = 0; i < listeners.size(); i++) {
      listeners.get(i).settings(next.listeners().get(i));
    }
    certificates()
        .ifPresent(
            keeper -> keeper.reload(next.acme(), next.orderedNames(), next.answersInClear()));
    certificates.run();
    ClientSettings settings = next.limits().connection();
    return unfinished(
        shards.stream().map(shard -> shard.settings(settings)).toList(), RELOAD_WAIT_MILLIS);
  }

  /** How many are not done after that time, which is one limit for all of them. */
  static int unfinished(List<? extends Future<?>> futures, long limitMillis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
    int unfinished = 0;
    for (Future<?> future : futures) {
      long left = Math.max(0, deadline - System.nanoTime());
      unfinished += future.awaitUninterruptibly(left, TimeUnit.NANOSECONDS) ? 0 : 1;
    }
    return unfinished;
  }

  /** Stops accepting, and waits for the exchanges under way; says how many are left after that. */
  int drain(Duration idleMayStay) {
    stopListening();
    shards.forEach(shard -> shard.drain(idleMayStay));
    peerSide().ifPresent(side -> side.drain(idleMayStay));
    long deadline = System.nanoTime() + running.limits().drainDeadline().toNanos();
    while (open() > 0 && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(DRAIN_LOOK_NANOS);
    }
    return open();
  }

  private int open() {
    return limiter.open() + peerSide().map(side -> side.limit().open()).orElse(0);
  }

  /** The TLS of all listeners and of the control plane. */
  TlsListeners tls() {
    return tls;
  }

  /** The listening sockets of each address, as descriptors that stay ours. */
  Map<String, List<Integer>> listeningSockets() {
    Map<String, List<Integer>> sockets = new LinkedHashMap<>();
    listeners.forEach(
        listener -> sockets.put(HostPort.text(listener.address()), listener.descriptors()));
    peerSide()
        .map(PeerSide::listener)
        .ifPresent(
            listener -> sockets.put(HostPort.text(listener.address()), listener.descriptors()));
    return sockets;
  }

  /** Accepts nothing any more. What is open stays. */
  void stopListening() {
    listeners.forEach(Listener::close);
    peerSide().ifPresent(side -> side.listener().close());
  }

  /** Stops listening and cuts off what is open. The loops stay. */
  void close() {
    stopListening();
    peerSide().ifPresent(PeerSide::closeAll);
    tuner.close();
    if (exporter != null) {
      exporter.close();
    }
    shards.forEach(ServerShard::closeAll);
    certificates().ifPresent(CertificateKeeper::close);
    tls.close();
  }

  /** Sends what is recorded to a collector, if there is one. */
  void exportTraces(String version) {
    tracing
        .settings()
        .endpoint()
        .ifPresent(
            endpoint ->
                exporter =
                    new TraceExporter(
                        tracing, endpoint, version, EXPORT_PERIOD, EXPORT_LIMIT, registry));
  }

  /** The recording of single requests. */
  Tracing tracing() {
    return tracing;
  }

  /** Who decides on send buffers. */
  BufferTuner tuner() {
    return tuner;
  }

  /** Where clients reach us, with the ports the kernel chose. */
  List<String> listening() {
    return listeners.stream().map(listener -> HostPort.text(listener.address())).toList();
  }

  /** What happened so far. */
  Totals totals() {
    long requests = 0;
    long failures = 0;
    long hits = 0;
    for (ExchangeMetrics metrics : exchanges) {
      requests += metrics.requests();
      failures += metrics.serverErrors();
      hits += metrics.hits();
    }
    return new Totals(requests, failures, hits, loops.cpuNanos(), limiter.open());
  }

  /** How long requests took so far. */
  Histogram.Snapshot durations() {
    return exchanges.stream()
        .map(ExchangeMetrics::durations)
        .reduce(Histogram.Snapshot.EMPTY, Histogram.Snapshot::plus);
  }

  /** What was asked of the route of that name; nothing without a control plane. Any thread. */
  RouteTraffic.Counts traffic(String route) {
    return traffics.stream()
        .map(traffic -> traffic.of(route))
        .reduce(RouteTraffic.Counts.NONE, RouteTraffic.Counts::plus);
  }

  List<ListenerSnapshot> listenerSnapshots() {
    List<ListenerSnapshot> snapshots = new ArrayList<>();
    for (int i = 0; i < listeners.size(); i++) {
      Listener listener = listeners.get(i);
      snapshots.add(
          new ListenerSnapshot(
              HostPort.text(listener.address()),
              listener.connections(),
              tls.expires(running.listeners().get(i).name())));
    }
    return snapshots;
  }

  List<LoopSnapshot> loopSnapshots() {
    List<LoopSnapshot> snapshots = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      snapshots.add(
          new LoopSnapshot(
              loops.name(i),
              exchanges.get(i).requests(),
              shards.get(i).connections().open(),
              loops.cpuNanos(i) / 1e9));
    }
    return snapshots;
  }
}
