package io.kamille.launcher.appliance;

import io.kamille.admin.AdminServer;
import io.kamille.admin.AdminSettings;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ListenerSnapshot;
import io.kamille.admin.view.LoopSnapshot;
import io.kamille.core.admission.ClientTable;
import io.kamille.core.admission.Overload;
import io.kamille.core.admission.Shedder;
import io.kamille.core.exchange.ExchangeMetrics;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.log.AccessLog;
import io.kamille.core.log.AccessLogSettings;
import io.kamille.core.log.OperationalLog;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.server.ConnectionLimiter;
import io.kamille.core.server.IdleTimeoutGovernor;
import io.kamille.core.server.Listener;
import io.kamille.core.server.connection.ClientSettings;
import io.kamille.core.server.connection.ServerShard;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.time.WallClock;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.LimitSettings;
import io.kamille.launcher.configuration.ListenerSettings;
import io.kamille.launcher.configuration.LogSettings;
import io.kamille.launcher.service.InheritedSockets;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A running Kamille: loops, listeners, the chain of stations, logs and the control plane. Any
 * thread; {@link #reload} and {@link #drain} one at a time.
 */
public final class Appliance implements AutoCloseable {

  static final MetricDescriptor CONNECTIONS =
      MetricDescriptor.gauge(
          "kamille_connections", Unit.COUNT, "Connections to clients that are open.", "listener");

  static final MetricDescriptor REFUSED =
      MetricDescriptor.counter(
          "kamille_connections_refused_total",
          Unit.COUNT,
          "Connections closed as soon as they came: too many were open and none was idle (limit),"
              + " too many of their client were (client), or their client is not let in (access).",
          "reason");

  static final MetricDescriptor ACCEPT_FAILURES =
      MetricDescriptor.counter(
          "kamille_accept_failures_total",
          Unit.COUNT,
          "Attempts to accept a connection that failed, mostly for want of a file descriptor; each"
              + " time, one listener's loop accepts nothing for a second.");

  static final MetricDescriptor REFUSED_REQUESTS =
      MetricDescriptor.counter(
          "kamille_requests_refused_total",
          Unit.COUNT,
          "Requests answered with 429: too many of their client were under way (client), or came in"
              + " too short a time (rate).",
          "reason");

  static final MetricDescriptor SHED_REQUESTS =
      MetricDescriptor.counter(
          "kamille_requests_shed_total",
          Unit.COUNT,
          "Requests answered with 503, or with what stale-if-error allows, because their loop was"
              + " late: those that would have been forwarded (forward), and those nobody had looked"
              + " at (any).",
          "kind");

  static final MetricDescriptor SHED_SHARE =
      MetricDescriptor.gauge(
          "kamille_loop_shed_share",
          Unit.COUNT,
          "What a loop sheds now: up to 1 the share of requests to be forwarded; what is over 1 is"
              + " the share of all others.",
          "loop");

  static final MetricDescriptor CLOSED_EARLY =
      MetricDescriptor.counter(
          "kamille_connections_closed_early_total",
          Unit.COUNT,
          "Idle connections closed before their time-out: near the threshold, or for a new one at"
              + " the limit.",
          "reason");

  static final MetricDescriptor CLOSED_SLOW =
      MetricDescriptor.counter(
          "kamille_connections_closed_slow_total",
          Unit.COUNT,
          "Connections reset because their client took what waited for it slower than it must"
              + " (rate), or took nothing of it within the content time-out (stopped).",
          "reason");

  static final MetricDescriptor UNFINISHED_HEADS =
      MetricDescriptor.gauge(
          "kamille_request_heads_unfinished_bytes",
          Unit.BYTES,
          "What request heads take of the Java heap of which only a part has come; an eighth of the"
              + " heap at the most.");

  static final MetricDescriptor DISPLACED_HEADS =
      MetricDescriptor.counter(
          "kamille_request_heads_displaced_total",
          Unit.COUNT,
          "Unfinished request heads answered with 408 because others needed their room: the oldest"
              + " yields.");

  static final MetricDescriptor HEADS_UNDER_WAY =
      MetricDescriptor.gauge(
          "kamille_request_heads_under_way_bytes",
          Unit.BYTES,
          "What the heads of requests under way take of the Java heap, those that take more than 4"
              + " KiB; an eighth of the heap at the most.");

  static final MetricDescriptor REFUSED_HEADS =
      MetricDescriptor.counter(
          "kamille_request_heads_refused_total",
          Unit.COUNT,
          "Requests answered with 503 because their head takes more than 4 KiB and those under way"
              + " had used up the room.");

  static final MetricDescriptor IDLE_TIMEOUT =
      MetricDescriptor.gauge(
          "kamille_connections_idle_timeout_seconds",
          Unit.SECONDS,
          "How long a connection may be idle now.");

  static final MetricDescriptor LOOP_CPU =
      MetricDescriptor.counter(
          "kamille_loop_cpu_seconds_total", Unit.SECONDS, "Processor time of a loop.", "loop");

  private static final System.Logger LOG = System.getLogger("kamille.appliance");
  private static final long RELOAD_WAIT_MILLIS = 5_000;

  /**
   * As an eighth of the heap each, unfinished heads and those under way leave enough for the rest.
   */
  private static final int ROOM_FOR_HEADS_PART = 8;

  private static final long DRAIN_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final MetricRegistry registry = new MetricRegistry();
  private final List<ExchangeMetrics> exchanges = new ArrayList<>();
  private final List<ServerShard> shards = new ArrayList<>();
  // Read by the control plane while they are opened.
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();
  private final String version;
  private final long startedEpochMillis = System.currentTimeMillis();
  private final Preflight preflight;
  private final ConnectionLimiter limiter;
  private final ClientTable clients;
  private final AccessLog accessLog;
  private final LoopGroup loops;
  private final Overload overload;
  private final Assembly assembly;
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable AdminServer admin;
  // Volatile: written by whoever reloads or drains, read by the control plane.
  private volatile ApplianceView.State state = ApplianceView.State.STARTING;
  private volatile Configuration running;

  private Appliance(Configuration configuration, Preflight preflight, String version)
      throws StartFailure {
    this.version = version;
    this.preflight = preflight;
    running = configuration;
    LimitSettings limits = configuration.limits();
    limiter = new ConnectionLimiter(preflight.connections(limits.connections()), governor(limits));
    clients = new ClientTable(limits.client().limits(), System::nanoTime);
    overload = new Overload(configuration.overload().targetNanos());
    assembly = assemble(configuration);
    accessLog = openAccessLog(configuration.log());
    loops = new LoopGroup(configuration.loops(), configuration.engine().pace(), registry);
    loops.watch(configuration.engine().stallLimit());
  }

  /**
   * Starts what the configuration describes.
   *
   * @param version what the control plane says we are
   * @throws StartFailure with one sentence, and everything closed again
   */
  public static Appliance start(Configuration configuration, String version) throws StartFailure {
    return start(configuration, version, InheritedSockets.none());
  }

  /**
   * Starts what the configuration describes, on the sockets that listen already where there are
   * any.
   *
   * @param sockets borrowed
   * @throws StartFailure with one sentence, and everything closed again
   */
  public static Appliance start(
      Configuration configuration, String version, InheritedSockets sockets) throws StartFailure {
    OperationalLog.install(level(configuration));
    Preflight preflight = new Preflight(Path.of("/proc"));
    preflight.check(configuration);
    Appliance appliance = new Appliance(configuration, preflight, version);
    try {
      appliance.startShards();
      // To accept on sockets that another process serves is the last step: nothing fails behind it.
      if (sockets.isEmpty()) {
        appliance.listen(sockets);
        appliance.openAdmin(false);
      } else {
        appliance.openAdmin(sockets.isFromPredecessor());
        appliance.listen(sockets);
      }
    } catch (StartFailure failure) {
      appliance.close();
      throw failure;
    }
    appliance.state = ApplianceView.State.READY;
    return appliance;
  }

  private Assembly assemble(Configuration configuration) throws StartFailure {
    try {
      return new Assembly(configuration, registry, overload);
    } catch (IllegalStateException refused) {
      throw new StartFailure(
          StartFailure.Kind.SYSTEM, "cannot take the cache's memory: " + refused.getMessage());
    } catch (IOException refused) {
      throw new StartFailure(
          StartFailure.Kind.FILE,
          "cannot use the directory of cache.disk.path, "
              + configuration.cache().disk().map(disk -> disk.path().toString()).orElse("none")
              + ": "
              + refused.getMessage());
    }
  }

  private void openAdmin(boolean isBesideAnother) throws StartFailure {
    HostPort address = running.admin().address().orElse(null);
    if (address == null) {
      return;
    }
    try {
      admin =
          AdminServer.open(
              AdminSettings.of(
                  address.socketAddress(),
                  running.admin().mayBeRemote(),
                  running.admin().tokenFile()),
              new LiveView(this),
              List.of(),
              registry,
              WallClock.system(),
              isBesideAnother);
    } catch (BindException taken) {
      throw new StartFailure(
          StartFailure.Kind.ADDRESS,
          "cannot serve the admin API on " + address + ": " + taken.getMessage());
    } catch (IOException | IllegalArgumentException failed) {
      throw new StartFailure(
          StartFailure.Kind.FILE, "cannot open the admin API: " + failed.getMessage());
    }
  }

  private static Level level(Configuration configuration) {
    return switch (configuration.log().level()) {
      case ERROR -> Level.ERROR;
      case WARNING -> Level.WARNING;
      case INFO -> Level.INFO;
      case DEBUG -> Level.DEBUG;
    };
  }

  private AccessLog openAccessLog(LogSettings settings) throws StartFailure {
    LogSettings.Access access = settings.access();
    if (!access.isEnabled()) {
      return AccessLog.disabled();
    }
    var format =
        switch (access.format()) {
          case COMBINED -> AccessLogSettings.Format.COMBINED;
          case JSON -> AccessLogSettings.Format.JSON;
        };
    try {
      return AccessLog.open(
          new AccessLogSettings(format, access.output(), access.bufferBytes()),
          registry,
          WallClock.system());
    } catch (IOException failed) {
      throw new StartFailure(
          StartFailure.Kind.FILE, "cannot write the access log: " + failed.getMessage());
    }
  }

  private void startShards() {
    for (EventLoop loop : loops.loops()) {
      int number = shards.size();
      Shedder shedder = overload.shedder(loop, () -> loops.polls(number));
      registry.gauge(SHED_SHARE, shedder::share, loops.name(number));
      ServerShard shard =
          new ServerShard(
              loop,
              running.forwarding().via(),
              clientSettings(running),
              limiter,
              assembly.entrance(),
              observer(),
              System::nanoTime,
              () -> System.currentTimeMillis() / 1000,
              shedder);
      shard.start();
      loops.answered(number, exchanges.getLast());
      registry.counting(LOOP_CPU, () -> loops.cpuNanos(number) / 1e9, loops.name(number));
      shards.add(shard);
    }
    registerConnections();
  }

  private void listen(InheritedSockets sockets) throws StartFailure {
    for (ListenerSettings settings : running.listeners()) {
      try {
        Listener listener =
            Listener.open(
                settings.address().socketAddress(),
                settings.backlog(),
                shards,
                limiter,
                clients,
                settings.access().list(),
                sockets.take(settings.address().socketAddress()));
        listeners.add(listener);
        registry.gauge(CONNECTIONS, listener::connections, settings.name());
      } catch (IOException failed) {
        throw new StartFailure(StartFailure.Kind.ADDRESS, String.valueOf(failed.getMessage()));
      }
    }
  }

  private void registerConnections() {
    registry.counting(REFUSED, limiter::refused, "limit");
    registry.counting(ACCEPT_FAILURES, limiter::acceptFailures);
    registry.counting(REFUSED, clients::refusedConnections, "client");
    registry.counting(REFUSED, clients::denied, "access");
    registry.counting(REFUSED_REQUESTS, clients::refusedRequests, "client");
    registry.counting(SHED_REQUESTS, overload::shedForwards, "forward");
    registry.counting(SHED_REQUESTS, overload::shedAtOnce, "any");
    registry.counting(
        CLOSED_EARLY, () -> sum(shard -> shard.connections().endedEarly()), "threshold");
    registry.counting(CLOSED_EARLY, () -> sum(shard -> shard.connections().displaced()), "limit");
    registry.gauge(UNFINISHED_HEADS, () -> sum(shard -> shard.connections().unfinishedHeadBytes()));
    registry.counting(DISPLACED_HEADS, () -> sum(shard -> shard.connections().displacedHeads()));
    registry.gauge(HEADS_UNDER_WAY, () -> sum(shard -> shard.headsUnderWay().heapBytes()));
    registry.counting(REFUSED_HEADS, () -> sum(shard -> shard.headsUnderWay().refused()));
    registry.counting(CLOSED_SLOW, () -> sum(shard -> shard.connections().tooSlow()), "rate");
    registry.counting(CLOSED_SLOW, () -> sum(shard -> shard.connections().stopped()), "stopped");
    registry.gauge(
        IDLE_TIMEOUT, () -> limiter.nanos(running.limits().idleTimeout().toNanos(), 0) / 1e9);
  }

  private double sum(ToLongFunction<ServerShard> count) {
    return shards.stream().mapToLong(count).sum();
  }

  /** What one loop tells of its exchanges: metrics, and the access log if there is one. */
  private ExchangeObserver observer() {
    ExchangeMetrics metrics = ExchangeMetrics.forLoop(registry);
    exchanges.add(metrics);
    return running.log().access().isEnabled() ? metrics.and(accessLog.forLoop()) : metrics;
  }

  private static IdleTimeoutGovernor governor(LimitSettings limits) {
    return new IdleTimeoutGovernor(limits.idleThreshold());
  }

  private static ClientSettings clientSettings(Configuration configuration) {
    LimitSettings limits = configuration.limits();
    return new ClientSettings(
        new HeadLimits(limits.requestTargetBytes(), limits.fields(), limits.headBytes()),
        roomForHeadsBytes(Runtime.getRuntime().maxMemory(), configuration.loops()),
        limits.headTimeout(),
        limits.idleTimeout(),
        limits.contentTimeout(),
        limits.tunnelTimeout(),
        limits.uploadBytesPerSecond(),
        limits.uploadGrace(),
        limits.downloadBytesPerSecond(),
        limits.downloadGrace(),
        limits.requestContentBytes(),
        ClientSettings.DEFAULT.lowWatermarkBytes(),
        ClientSettings.DEFAULT.highWatermarkBytes(),
        configuration.cache().statusField().map(name -> name + "; detail=refused").orElse(""));
  }

  /** A loop's part of what unfinished heads may take, and of what those under way may. */
  static long roomForHeadsBytes(long heapBytes, int loops) {
    return heapBytes / ROOM_FOR_HEADS_PART / loops;
  }

  /** What the loops shed while they are late. */
  Overload overload() {
    return overload;
  }

  /** Where clients reach us, with the ports the kernel chose. */
  public List<String> listening() {
    return listeners.stream().map(listener -> text(listener.address())).toList();
  }

  /** Where the control plane listens, if it does. */
  public Optional<String> adminListening() {
    return Optional.ofNullable(admin).map(server -> text(server.address()));
  }

  private static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /** What happened so far. */
  public Totals totals() {
    long requests = 0;
    long hits = 0;
    for (ExchangeMetrics metrics : exchanges) {
      requests += metrics.requests();
      hits += metrics.hits();
    }
    return new Totals(requests, hits, loops.cpuNanos(), limiter.open());
  }

  /**
   * Puts another configuration in force: routes, upstreams and limits at once, for requests that
   * begin from now on. What needs a restart is logged and stays as it is.
   */
  public void reload(Configuration read) {
    List<SettingChange> changes = read.changesFrom(running);
    Configuration next = read.reloadedOver(running);
    for (SettingChange change : changes) {
      LOG.log(change.needsRestart() ? Level.WARNING : Level.INFO, change.toString());
    }
    OperationalLog.install(level(next));
    assembly.reload(next);
    if (!next.engine().equals(running.engine())) {
      loops.pace(next.engine().pace());
      loops.watch(next.engine().stallLimit());
    }
    int lateLoops = takeLimits(next);
    limiter.limit(preflight.connections(next.limits().connections()), governor(next.limits()));
    overload.target(next.overload().targetNanos());
    clients.limits(next.limits().client().limits());
    for (int i = 0; i < listeners.size(); i++) {
      listeners.get(i).access(next.listeners().get(i).access().list());
    }
    accessLog.reopen();
    running = next;
    LOG.log(lateLoops == 0 ? Level.INFO : Level.WARNING, reloaded(changes, lateLoops));
  }

  /** Gives all loops their limits, and says how many have not taken them in time. */
  private int takeLimits(Configuration next) {
    ClientSettings settings = clientSettings(next);
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

  /**
   * One sentence: how many settings are in force now, how many wait for a restart, and how many
   * loops go by the old limits still.
   */
  static String reloaded(List<SettingChange> changes, int lateLoops) {
    long waiting = changes.stream().filter(SettingChange::needsRestart).count();
    long inForce = changes.size() - waiting;
    String sentence =
        "configuration reloaded, "
            + inForce
            + (inForce == 1 ? " setting" : " settings")
            + " changed";
    if (waiting > 0) {
      sentence += "; " + waiting + (waiting == 1 ? " waits" : " wait") + " for a restart";
    }
    if (lateLoops > 0) {
      sentence +=
          "; "
              + lateLoops
              + (lateLoops == 1 ? " loop has" : " loops have")
              + " the old limits still";
    }
    return sentence;
  }

  /** The listening sockets of each address, as descriptors that stay ours. */
  public Map<String, List<Integer>> listeningSockets() {
    Map<String, List<Integer>> sockets = new LinkedHashMap<>();
    listeners.forEach(listener -> sockets.put(text(listener.address()), listener.descriptors()));
    return sockets;
  }

  /** The threads that must never stand still. */
  public List<EventLoop> eventLoops() {
    return loops.loops();
  }

  /** The longest that {@link #drain} takes. */
  public Duration drainLimit() {
    return running.limits().drainDeadline();
  }

  /** Accepts nothing any more, on any listener: another process does. What is open stays. */
  public void stepBack() {
    listeners.forEach(Listener::close);
    closeAdmin();
  }

  private synchronized void closeAdmin() {
    if (admin != null) {
      admin.close();
      admin = null;
    }
  }

  /** Stops accepting, lets exchanges finish until the deadline of the configuration, and closes. */
  public void drain() {
    state = ApplianceView.State.DRAINING;
    listeners.forEach(Listener::close);
    shards.forEach(ServerShard::drain);
    long deadline = System.nanoTime() + running.limits().drainDeadline().toNanos();
    while (limiter.open() > 0 && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(DRAIN_LOOK_NANOS);
    }
    if (limiter.open() > 0) {
      LOG.log(Level.WARNING, "drain deadline passed with {0} connections open", limiter.open());
    }
  }

  /** Closes everything at once. Closing again does nothing. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    listeners.forEach(Listener::close);
    shards.forEach(ServerShard::closeAll);
    closeAdmin();
    assembly.close();
    loops.close();
    accessLog.close();
    assembly.closeCache();
  }

  // For the control plane and the reference page

  MetricRegistry metrics() {
    return registry;
  }

  ApplianceView.State state() {
    return state;
  }

  String version() {
    return version;
  }

  long startedEpochMillis() {
    return startedEpochMillis;
  }

  List<ListenerSnapshot> listenerSnapshots() {
    return listeners.stream()
        .map(listener -> new ListenerSnapshot(text(listener.address()), listener.connections()))
        .toList();
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

  LoopGroup loops() {
    return loops;
  }

  Assembly assembly() {
    return assembly;
  }
}
