package io.kamille.launcher.appliance;

import io.kamille.admin.AdminServer;
import io.kamille.admin.AdminSettings;
import io.kamille.admin.api.Operation;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.cluster.settings.ClusterSettings.ConfigChoice;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.Overload;
import io.kamille.core.log.AccessLog;
import io.kamille.core.log.LoopTop;
import io.kamille.core.log.OperationalLog;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.socket.UnixSocket;
import io.kamille.launcher.acme.CertificateKeeper;
import io.kamille.launcher.chain.RequestTests;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.service.Incumbent;
import io.kamille.launcher.service.Inheritance;
import io.kamille.launcher.service.InheritedSockets;
import io.kamille.launcher.version.ConfigControl;
import io.kamille.launcher.version.SharedConfig;
import io.kamille.launcher.version.TrialGuard;
import io.kamille.launcher.warm.WarmSource;
import io.kamille.launcher.warm.WarmUp;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running Kamille: loops, listeners, the chain of stations, logs and the control plane. Any
 * thread; reloads and {@link #drain} one at a time.
 */
public final class Appliance implements ConfigControl.Target, AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.appliance");
  private static final MetricDescriptor RELOAD_SUCCESSFUL =
      MetricDescriptor.gauge(
          "kamille_config_last_reload_successful",
          "Whether the configuration file was taken when it was last read: 1, or 0 if it was"
              + " refused and what ran goes on.");
  private static final MetricDescriptor RELOAD_SUCCESS =
      MetricDescriptor.gauge(
          "kamille_config_last_reload_success_timestamp_seconds",
          "When a configuration last came into force, since the epoch.");
  private static final double MILLIS_PER_SECOND = 1000;

  /** How far it has come. */
  enum Phase {
    /** Not yet accepting on all listeners. */
    STARTING,
    READY,
    /** Finishing exchanges, accepting none. */
    DRAINING
  }

  /**
   * The last reload.
   *
   * @param successful false if the file was refused, and what ran goes on
   * @param lastSuccess when a configuration last came into force (RFC 3339)
   */
  record ReloadSnapshot(boolean successful, String lastSuccess) {}

  private final MetricRegistry registry = new MetricRegistry();
  private final String version;
  private final long startedEpochMillis = System.currentTimeMillis();
  private final @Nullable AccessLog accessLog;
  private final WarmUp warmUp;
  private final LoopGroup loops;
  private final Overload overload;
  private final RouteSet routes;
  private final ClientSide clientSide;
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable AdminServer admin;
  // Volatile: joined by whoever starts or upgrades, read by the control plane.
  private volatile @Nullable Cluster cluster;
  private long currentSinceMillis;
  private @Nullable SharedConfig shared;
  private final boolean joins;
  // Volatile: written by whoever reloads or drains, read by the control plane.
  private volatile Phase state = Phase.STARTING;
  private volatile Configuration running;
  private volatile boolean isLastReloadGood = true;
  private volatile long inForceEpochMillis = System.currentTimeMillis();

  private Appliance(
      Configuration configuration,
      Preflight preflight,
      String version,
      Inheritance inheritance,
      Machine machine)
      throws StartFailure {
    this.version = version;
    this.joins = machine.joins();
    running = configuration;
    HandoverValues before = new HandoverValues(inheritance.claim());
    before.takeSecret();
    overload = new Overload(configuration.overload().target().toNanos(), machine.shedding());
    routes = openRoutes(configuration, machine);
    OperationalLog.register(registry);
    registry.gauge(RELOAD_SUCCESSFUL, () -> isLastReloadGood ? 1 : 0);
    registry.gauge(RELOAD_SUCCESS, () -> inForceEpochMillis / MILLIS_PER_SECOND);
    accessLog = openAccessLog(configuration);
    loops = startLoops(configuration);
    loops.watch();
    clientSide = new ClientSide(configuration, preflight, loops, registry, routes.secret());
    warmUp =
        new WarmUp(
            new WarmSource(
                (request, client) -> routes.explainer().explain(request, client).explanation(),
                routes.entrance(),
                eventLoops(),
                () -> clientSide.top(LoopTop.Ranking.URLS),
                routes.cache().purges()::removedBy,
                routes.cache()::variants));
    before.takeOver(this);
    before.follow(inheritance, routes.handover());
  }

  /**
   * Starts what the configuration describes, on the sockets that listen already where there are
   * any.
   *
   * @param version what the control plane says we are
   * @param inheritance the sockets, and the process whose place we take; borrowed
   * @param resources of the control plane that change the configuration; none if nobody may
   * @param machine what it stands on
   * @throws StartFailure with one sentence, and everything closed again
   */
  public static Appliance start(
      Configuration configuration,
      String version,
      Inheritance inheritance,
      Function<Appliance, List<Operation>> resources,
      Machine machine)
      throws StartFailure {
    OperationalLog.install(configuration.log().level());
    configuration.logWarnings();
    if (!inheritance.isFromPredecessor()) {
      refuseSecond(configuration.admin());
    }
    Preflight preflight = Preflight.here();
    preflight.check(configuration);
    Appliance appliance = new Appliance(configuration, preflight, version, inheritance, machine);
    InheritedSockets sockets = inheritance.sockets();
    try {
      appliance.clientSide.startShards(
          appliance.overload, appliance.routes.entrance(), appliance.accessLog);
      appliance.clientSide.exportTraces(version);
      appliance.join(0);
      // To accept on sockets that another process serves is the last step: nothing fails behind it.
      if (sockets.isEmpty()) {
        appliance.listenToPeers(sockets);
        appliance.listen(sockets);
        appliance.openAdmin(resources.apply(appliance), false);
      } else {
        appliance.openAdmin(resources.apply(appliance), inheritance.isFromPredecessor());
        appliance.listenToPeers(sockets);
        appliance.listen(sockets);
      }
    } catch (StartFailure failure) {
      appliance.close();
      throw failure;
    }
    appliance.state = Phase.READY;
    return appliance;
  }

  /** Two processes would take each other's local socket. One that a dead process left is free. */
  private static void refuseSecond(AdminSettings settings) throws StartFailure {
    Path directory = settings.tokenFile().toAbsolutePath().getParent();
    Path socket = directory == null ? null : LocalApi.socket(directory);
    if (socket == null || settings.address().isEmpty() || !Files.exists(socket)) {
      return;
    }
    UnixSocket.Peer other = UnixSocket.listener(socket.toString());
    if (other != null) {
      throw new StartFailure(
          StartFailure.Cause.ADDRESS,
          "another Kamille (process "
              + other.processId()
              + ") uses this state directory: "
              + directory);
    }
  }

  /**
   * Becomes one of several nodes, before anybody is served.
   *
   * @param sinceMillis since when this node had been current as it left; 0 if it has not
   */
  private void join(long sinceMillis) throws StartFailure {
    if (running.cluster().isOn() && joins) {
      Cluster joined = routes.join(running, version, registry, sinceMillis);
      cluster = joined;
      routes
          .peers()
          .ifPresent(
              peers -> {
                peers.connectFrom(eventLoops());
                joined.follow(peers);
              });
      if (shared != null) {
        joined.shareConfig(shared);
      }
    }
  }

  /** Has what {@code control} puts in force shared by all nodes; null if this node has its own. */
  public @Nullable SharedConfig share(ConfigControl control) {
    Cluster nodes = cluster;
    if (nodes == null || running.cluster().config() == ConfigChoice.LOCAL) {
      return null;
    }
    shared = new SharedConfig(control, this::sharedNow);
    nodes.shareConfig(shared);
    return shared;
  }

  private @Nullable ClusterConfig sharedNow() {
    Cluster nodes = cluster;
    return nodes == null ? null : nodes.config();
  }

  /** Leaves the cluster, if there is one, for the process that takes our place. */
  void leave() {
    Cluster left = cluster;
    if (left != null) {
      currentSinceMillis = System.currentTimeMillis() - left.currentMillis();
      left.giveWay();
    }
  }

  /** Joins it again: that process is gone. */
  void rejoin() throws IOException {
    try {
      join(currentSinceMillis);
    } catch (StartFailure failed) {
      throw new IOException(failed.getMessage(), failed);
    }
  }

  /** The nodes that this one is a cluster with; null if there are none. */
  @Nullable Cluster cluster() {
    return cluster;
  }

  private void listen(InheritedSockets sockets) throws StartFailure {
    Supplier<SharedValues> values = () -> Objects.requireNonNull(cluster).values();
    clientSide.listen(sockets, routes.network(), cluster == null ? null : values);
  }

  private void listenToPeers(InheritedSockets sockets) throws StartFailure {
    ExchangeHandler entrance = routes.peerEntrance().orElse(null);
    if (entrance != null) {
      clientSide.listenToPeers(entrance, accessLog, sockets, routes.network());
    }
  }

  private LoopGroup startLoops(Configuration configuration) throws StartFailure {
    try {
      return new LoopGroup(configuration.loops(), configuration.engine(), registry);
    } catch (IllegalStateException refused) {
      throw new StartFailure(StartFailure.Cause.SYSTEM, String.valueOf(refused.getMessage()));
    }
  }

  private RouteSet openRoutes(Configuration configuration, Machine machine) throws StartFailure {
    try {
      return new RouteSet(configuration, registry, overload, machine.of(configuration));
    } catch (IllegalStateException refused) {
      throw new StartFailure(
          StartFailure.Cause.SYSTEM, "cannot take the cache's memory: " + refused.getMessage());
    } catch (UncheckedIOException refused) {
      throw new StartFailure(StartFailure.Cause.FILE, String.valueOf(refused.getMessage()));
    } catch (IOException refused) {
      throw new StartFailure(
          StartFailure.Cause.FILE,
          "cannot use the directory of cache.disk.path, "
              + configuration.cache().disk().path()
              + ": "
              + DurableFile.why(refused));
    }
  }

  private void openAdmin(List<Operation> resources, boolean isBesideAnother) throws StartFailure {
    HostPort address = running.admin().address().orElse(null);
    if (address == null) {
      return;
    }
    admin = new ControlPlane(this, resources).open(address, isBesideAnother);
  }

  private @Nullable AccessLog openAccessLog(Configuration configuration) throws StartFailure {
    if (!configuration.log().access().isEnabled()) {
      return null;
    }
    try {
      return AccessLog.open(configuration.log().access(), registry, WallClock.system());
    } catch (IOException failed) {
      throw new StartFailure(
          StartFailure.Cause.FILE, "cannot write the access log: " + AccessLog.why(failed));
    }
  }

  /** What keeps certificates; nothing if none is ordered. */
  public Optional<CertificateKeeper> certificates() {
    return clientSide.certificates();
  }

  /** Who decides on send buffers. */
  BufferTuner tuner() {
    return clientSide.tuner();
  }

  WarmUp warmUp() {
    return warmUp;
  }

  /** What the loops shed while they are late. */
  Overload overload() {
    return overload;
  }

  /** Where clients reach us, with the ports the kernel chose. */
  public List<String> listening() {
    return clientSide.listening();
  }

  /** The other nodes of the cluster, if they are asked. */
  public Optional<Peers> peers() {
    return routes.peers();
  }

  /** Where other nodes reach us, with the port the kernel chose; nothing if none do. */
  public Optional<String> peersListening() {
    return clientSide.peersListening();
  }

  /** A link that signs a browser in to the control plane, once, within a minute. */
  public Optional<String> signInLink() {
    return Optional.ofNullable(admin).map(AdminServer::signInLink);
  }

  /** Where the control plane listens, if it does. */
  public Optional<String> adminListening() {
    return Optional.ofNullable(admin).map(server -> HostPort.text(server.address()));
  }

  /** What happened so far. */
  public Totals totals() {
    return clientSide.totals();
  }

  /**
   * Puts another configuration in force: routes, upstreams and limits at once, for requests that
   * begin from now on. What needs a restart is logged and stays as it is.
   */
  public void reload(Configuration read) {
    prepare(read).apply();
  }

  /** The configuration in force. */
  Configuration running() {
    return running;
  }

  /** What it started with of the control plane. */
  public AdminSettings admin() {
    return running.admin();
  }

  @Override
  public void refused() {
    isLastReloadGood = false;
  }

  /** What became of the configuration file when it was last read. */
  ReloadSnapshot reloaded() {
    return new ReloadSnapshot(
        isLastReloadGood, Instant.ofEpochMilli(inForceEpochMillis).toString());
  }

  @Override
  public TrialGuard.Counts counts() {
    Totals totals = totals();
    return new TrialGuard.Counts(totals.requests(), totals.failures(), clientSide.durations());
  }

  @Override
  public List<SettingChange> changes(Configuration read) {
    return read.changesFrom(running);
  }

  @Override
  public List<Problem> failedTests(Configuration read, String file) {
    return RequestTests.failed(read, file);
  }

  /**
   * Makes everything that another configuration needs and that may fail, and changes nothing.
   * Blocks while new names of origins are looked up.
   */
  @Override
  public ConfigControl.Step prepare(Configuration read) {
    List<SettingChange> changes = read.changesFrom(running);
    Configuration next = read.reloadedOver(running);
    Runnable certificates;
    try {
      certificates = clientSide.tls().prepare(next);
    } catch (IOException unusable) {
      throw new UncheckedIOException(unusable.getMessage(), unusable);
    }
    ConfigControl.Step chain = routes.prepare(next);
    return new ConfigControl.Step() {
      @Override
      public void apply() {
        putInForce(next, changes, chain, certificates);
      }

      @Override
      public void abandon() {
        chain.abandon();
      }
    };
  }

  /** Everything that fails has failed before. */
  private void putInForce(
      Configuration next,
      List<SettingChange> changes,
      ConfigControl.Step chain,
      Runnable certificates) {
    for (SettingChange change : changes) {
      LOG.log(change.needsRestart() ? Level.WARNING : Level.INFO, change.toString());
    }
    OperationalLog.install(next.log().level());
    next.logWarnings();
    chain.apply();
    if (!next.engine().equals(running.engine())) {
      loops.pace(next.engine());
    }
    overload.target(next.overload().target().toNanos());
    int lateLoops = clientSide.reload(next, certificates);
    reopenLogs();
    running = next;
    isLastReloadGood = true;
    inForceEpochMillis = System.currentTimeMillis();
    LOG.log(
        lateLoops == 0 ? Level.INFO : Level.WARNING, ReloadSentence.sentence(changes, lateLoops));
  }

  /** Us, as the process sees us that takes our place. */
  public Incumbent incumbent() {
    return new Succession(this);
  }

  /** The threads that must never stand still. */
  public List<EventLoop> eventLoops() {
    return loops.loops();
  }

  /** The longest that {@link #stopBeingReady} and {@link #drain} take. */
  public Duration stopLimit() {
    return running.limits().shutdownDelay().plus(drainLimit());
  }

  private Duration drainLimit() {
    return running.limits().drainDeadline();
  }

  /** Says that it is not ready, and serves on for as long as others need to see that. */
  public void stopBeingReady() throws InterruptedException {
    state = Phase.DRAINING;
    Thread.sleep(running.limits().shutdownDelay());
  }

  synchronized void closeAdmin() {
    if (admin != null) {
      admin.close();
      admin = null;
    }
  }

  /** Stops accepting, and lets exchanges finish until the deadline of the configuration. */
  public void drain() {
    drain(Duration.ZERO);
  }

  /**
   * The same after another process has taken over. Nobody waits for our end, so idle connections
   * may send one more request until half of that deadline; its answer says that it is the last.
   */
  public void drainBehindSuccessor() {
    drain(drainLimit().dividedBy(2));
    certificates().ifPresent(keeper -> keeper.finish(drainLimit()));
  }

  private void drain(Duration idleMayStay) {
    state = Phase.DRAINING;
    Cluster nodes = cluster;
    if (nodes != null) {
      nodes.drain();
    }
    int left = clientSide.drain(idleMayStay);
    if (left > 0) {
      LOG.log(Level.WARNING, "drain deadline passed with {0} connections open", left);
    }
  }

  /** Opens the logs anew, after they were renamed. */
  public void reopenLogs() {
    if (accessLog != null) {
      accessLog.reopen();
    }
  }

  /** Closes everything at once. Closing again does nothing. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    warmUp.close();
    clientSide.close();
    closeAdmin();
    leave();
    routes.close();
    loops.close();
    if (accessLog != null) {
      accessLog.close();
    }
    routes.closeCache();
  }

  /** All that it counts. */
  public MetricRegistry metrics() {
    return registry;
  }

  Phase state() {
    return state;
  }

  String version() {
    return version;
  }

  long startedEpochMillis() {
    return startedEpochMillis;
  }

  ClientSide clientSide() {
    return clientSide;
  }

  LoopGroup loops() {
    return loops;
  }

  RouteSet routes() {
    return routes;
  }
}
