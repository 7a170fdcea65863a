package io.kamille.launcher.appliance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.core.client.open.LimitSettings;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.ForwardingSettings.Mode;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.check.HealthChecker;
import io.kamille.core.origin.names.OriginLists;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.UpstreamHandler;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTrust;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.chain.Link.Ways;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteLimits;
import io.kamille.launcher.configuration.RouteSettings;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The upstreams that routes forward to, from one configuration to the next. One reload at a time;
 * {@link #origins} any thread.
 */
final class Upstreams implements AutoCloseable {

  /*
   * What is the same under the next configuration goes on as it is, on the loops where it is:
   *
   *   an upstream's        the same       goes on
   *   settings, files of   all            its handler: the retry budget, and pools and limits of
   *   TLS and `sticky`                    origins that stay
   *   one origin           in URL         its health, addresses and counters
   *   lists of origins     in place       what they named last
   *
   * The settings are all that an UpstreamHandler gets: those of the upstream, and what `limits` and
   * `forwarding` say of origins. Upstreams are compared by name.
   *
   * Upstreams, handlers, metrics and watched names belong to the configuration in force. A reload
   * begins a Next, which takes over what goes on and makes the rest, and changes nothing else: it
   * may be abandoned. It notes each thing that it makes before the next step, so that one that
   * fails half-way leaves nothing. Requests may come to it before it is put in force, when the
   * routes have been swapped: its metrics expect its origins by then. With that, whatever it has
   * not taken over is closed. Exchanges under way hold the handler they came to, end on their
   * connections, and then those close; nobody waits for that.
   *
   * Lists of origins are looked at every second, from the first file on, or the first origin that
   * comes through the API. A change replaces the origins of that upstream alone, as a reload would;
   * during a reload it waits for the next refresh.
   *
   * An origin under another policy of health is another object with the same health: look-ups may
   * take seconds before the swap, exchanges of the last configuration go on after it, and what
   * becomes known of the origin meanwhile holds for both.
   */
  private record Upstream(
      OriginLists lists,
      List<OriginSettings> named,
      List<Origin> origins,
      @Nullable OriginTrust trust,
      UpstreamMetrics metrics,
      Map<UpstreamSettings, UpstreamHandler> handlers) {}

  /** Content that waits may take this part of the direct memory. */
  private static final int SPOOL_MEMORY_PART = 8;

  private static final System.Logger LOG = System.getLogger("kamille.upstream");
  private static final long REFRESH_SECONDS = 1;
  private static final int COOKIE_KEY_OCTETS = 32;

  private final OriginNames names;
  private final Connector connector;
  private final HealthChecker checker;
  private final Spool spool;
  private final MetricRegistry registry;
  private final WallClock clock;
  private final @Nullable ClusterSecret secret;
  // Volatile: replaced by whoever reloads, read by the control plane.
  private volatile Map<String, Upstream> inForce = Map.of();
  private final ScheduledThreadPoolExecutor watcher =
      new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("kamille-origins", true));

  private final SteadyTask refreshing =
      new SteadyTask(LOG, "origins were not looked at", this::takeIn);
  // Whoever wants a refresh never waits for one that looks names up.
  private final AtomicBoolean isWatching = new AtomicBoolean();

  @GuardedBy("this")
  private boolean isReloading;

  /**
   * None yet.
   *
   * @param names looks origins up; stays the caller's
   * @param connector opens connections to them
   * @param secret of the cluster; null if there is none
   * @param disk where content waits that memory has no room for; null for nowhere
   */
  Upstreams(
      OriginNames names,
      Connector connector,
      MetricRegistry registry,
      WallClock clock,
      @Nullable ClusterSecret secret,
      Spool.Disk disk) {
    this.names = names;
    this.connector = connector;
    this.registry = registry;
    this.clock = clock;
    this.secret = secret;
    this.checker = new HealthChecker(connector, clock, registry);
    this.spool = new Spool(PlatformDependent.maxDirectMemory() / SPOOL_MEMORY_PART, disk, registry);
  }

  /** What other handlers are made of. */
  Peers.Parts parts() {
    return new Peers.Parts(names, connector, clock, spool, registry);
  }

  /** The origins of each upstream in force, by its name. Any thread. */
  Map<String, List<Origin>> origins() {
    Map<String, List<Origin>> origins = new LinkedHashMap<>();
    inForce.forEach((name, upstream) -> origins.put(name, upstream.origins()));
    return origins;
  }

  /** The upstreams in force, as the control plane sees them. Any thread. */
  List<UpstreamSnapshot> snapshots() {
    List<UpstreamSnapshot> snapshots = new ArrayList<>();
    inForce.forEach(
        (name, upstream) ->
            snapshots.add(UpstreamSnapshot.of(name, upstream.origins(), upstream.lists())));
    return snapshots;
  }

  /** What names the origins of each upstream in force, by its name. Any thread. */
  Map<String, OriginLists> lists() {
    Map<String, OriginLists> lists = new LinkedHashMap<>();
    inForce.forEach((name, upstream) -> lists.put(name, upstream.lists()));
    return lists;
  }

  /** Whether the origins of that upstream in force may be asked by TLS. Any thread. */
  boolean mayBeSecure(String name) {
    Upstream upstream = inForce.get(name);
    return upstream != null && upstream.trust() != null;
  }

  /** Begins the upstreams of another configuration. */
  synchronized Next next(Configuration configuration) {
    isReloading = true;
    return new Next(configuration);
  }

  /** Refreshes the lists now and from now on, on a thread of their own. Any thread. */
  Future<?> refreshLists() {
    if (!isWatching.getAndSet(true)) {
      watcher.scheduleWithFixedDelay(
          refreshing, REFRESH_SECONDS, REFRESH_SECONDS, TimeUnit.SECONDS);
    }
    return watcher.submit(refreshing);
  }

  /** Takes in what lists name now. Looks up the names that are new: blocks. Any thread. */
  synchronized void takeIn() {
    if (isReloading) {
      return;
    }
    Map<String, Upstream> next = new LinkedHashMap<>(inForce);
    next.replaceAll((_, upstream) -> renewed(upstream));
    if (!next.equals(inForce)) {
      putInForce(next);
    }
  }

  private Upstream renewed(Upstream last) {
    last.lists().refresh(clock.nanos());
    List<OriginSettings> named = new ArrayList<>(last.lists().named());
    // The API took such a one before a reload that needed no TLS: the next reload makes it ready.
    named.removeIf(origin -> origin.url().isSecure() && last.trust() == null);
    if (named.equals(last.named())) {
      return last;
    }
    List<Origin> origins = first(last).origins(named, last.origins());
    last.metrics().expect(origins);
    watch(origins, last.origins(), last.lists());
    return new Upstream(
        last.lists(), named, origins, last.trust(), last.metrics(), last.handlers());
  }

  /** Looks up those that are new. The hosts of SRV records are full names (RFC 2782). */
  private void watch(List<Origin> origins, List<Origin> known, OriginLists lists) {
    Set<OriginUrl> services = lists.services();
    names.watch(
        origins.stream().filter(origin -> !known.contains(origin)).toList(),
        origin -> services.contains(origin.url()));
  }

  /** As the first route to it has its origins asked. */
  private static UpstreamSettings first(Upstream upstream) {
    return upstream.handlers().keySet().iterator().next();
  }

  private void putInForce(Map<String, Upstream> next) {
    Map<String, Upstream> last = inForce;
    inForce = next;
    for (Upstream upstream : next.values()) {
      upstream.handlers().values().forEach(handler -> handler.origins(upstream.origins()));
    }
    exportOrigins();
    checker.follow(targets());
    closeAllBut(next, last);
  }

  /** All origins, each as the first route to its upstream has it asked. */
  private List<HealthChecker.Target> targets() {
    List<HealthChecker.Target> targets = new ArrayList<>();
    for (Upstream upstream : inForce.values()) {
      UpstreamSettings settings = first(upstream);
      OriginTls tls = settings.health().check().isOn() ? tls(settings, upstream.trust()) : null;
      for (Origin origin : upstream.origins()) {
        targets.add(new HealthChecker.Target(origin, settings, tls, upstream.metrics()));
      }
    }
    return targets;
  }

  private static @Nullable OriginTls tls(UpstreamSettings settings, @Nullable OriginTrust trust) {
    try {
      return trust == null
          ? null
          : OriginTls.open(settings.tls(), trust, settings.protocol().offered());
    } catch (IOException refused) {
      throw new UncheckedIOException(refused.getMessage(), refused);
    }
  }

  @Override
  public void close() {
    watcher.shutdownNow();
    synchronized (this) {
      checker.close();
      spool.close();
      closeAllBut(Map.of(), inForce);
    }
  }

  private void closeAllBut(Map<String, Upstream> kept, Map<String, Upstream> upstreams) {
    Set<Object> stays = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Upstream upstream : kept.values()) {
      stays.addAll(upstream.origins());
      stays.addAll(upstream.handlers().values());
      stays.add(upstream.metrics());
    }
    for (Upstream upstream : upstreams.values()) {
      names.forget(without(stays, upstream.origins()));
      without(stays, upstream.handlers().values()).forEach(UpstreamHandler::close);
      without(stays, List.of(upstream.metrics())).forEach(UpstreamMetrics::close);
    }
  }

  private static <T> List<T> without(Set<?> stays, Iterable<T> all) {
    List<T> rest = new ArrayList<>();
    for (T one : all) {
      if (!stays.contains(one)) {
        rest.add(one);
      }
    }
    return rest;
  }

  /** The metrics tell of the origins in force, and expect no others. */
  private void exportOrigins() {
    for (Upstream upstream : inForce.values()) {
      upstream.metrics().origins(upstream.origins());
    }
  }

  /** The upstreams of a configuration that is about to come into force. Confined to its reload. */
  final class Next implements Ways {

    private final Configuration configuration;
    private final Map<String, Upstream> upstreams = new LinkedHashMap<>();

    private Next(Configuration configuration) {
      this.configuration = configuration;
    }

    /** What forwards for a route to its own upstream. Looks up the names that are new: blocks. */
    @Override
    public ExchangeHandler handler(RouteSettings route) {
      return configuration.isWelcome(route)
          ? WelcomePage.handler()
          : handler(Objects.requireNonNull(route.upstream(), "upstream"), route);
    }

    /**
     * What forwards for a route to the upstream of that name. Routes to one upstream share its
     * connections, unless they write different hosts. Looks up the names that are new: blocks.
     */
    @Override
    public ExchangeHandler handler(String name, RouteSettings route) {
      return handler(
          name,
          settings(
              name,
              route.limits(),
              configuration.forwarding().ofRoute(route.hostRewrite(), route.upgrades())));
    }

    /**
     * What asks the auth server of that name, with just the fields that it is given and those that
     * tell of the client. Looks up the names that are new: blocks.
     */
    @Override
    public ExchangeHandler authServer(String name) {
      return handler(
          name,
          settings(
              name,
              RouteLimits.NONE,
              new ForwardingSettings(Mode.REPLACE, Mode.REMOVE, null, List.of(), List.of())));
    }

    private ExchangeHandler handler(String name, UpstreamSettings settings) {
      Upstream begun = upstreams.get(name);
      Upstream upstream = begun == null ? upstream(name, settings) : begun;
      return upstream.handlers().computeIfAbsent(settings, _ -> handler(name, upstream, settings));
    }

    /** What holds of an upstream when it is told that. */
    private UpstreamSettings settings(
        String upstream, RouteLimits ofRoute, ForwardingSettings forwarding) {
      UpstreamSettings settings = configuration.upstream(upstream).settings();
      LimitSettings limits = configuration.limits();
      return settings.with(
          settings
              .connection()
              .within(limits.connection().tunnelTimeout())
              .ofRoute(ofRoute.headTimeout(), ofRoute.contentTimeout()),
          forwarding);
    }

    private UpstreamHandler handler(String name, Upstream upstream, UpstreamSettings settings) {
      Upstream last = inForce.get(name);
      UpstreamHandler same =
          last != null && Objects.equals(last.trust(), upstream.trust())
              ? last.handlers().get(settings)
              : null;
      return same != null && same.hasSecretOfFile()
          ? same
          : new UpstreamHandler(
              settings,
              upstream.origins(),
              tls(settings, upstream.trust()),
              secret == null ? null : secret.key("sticky " + name, COOKIE_KEY_OCTETS),
              connector,
              clock,
              spool,
              upstream.metrics());
    }

    /** What is in the files of TLS. */
    private static OriginTrust trust(UpstreamSettings settings) {
      try {
        OriginTrust trust = settings.tls().read();
        ServerCertificate own = trust.own();
        String trouble = own == null ? null : own.trouble(Instant.now());
        if (trouble != null) {
          LOG.log(Level.WARNING, "{0}: {1}", settings.tls().certificate(), trouble);
        }
        return trust;
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable.getMessage(), unreadable);
      }
    }

    private Upstream upstream(String name, UpstreamSettings settings) {
      Upstream last = inForce.get(name);
      OriginLists lists =
          OriginLists.of(
              name,
              configuration.upstream(name),
              names.lookup(),
              last == null ? null : last.lists());
      lists.refresh(clock.nanos());
      List<OriginSettings> named = lists.named();
      List<Origin> known = last == null ? List.of() : last.origins();
      List<Origin> origins = settings.origins(named, known);
      OriginTrust trust =
          !lists.watched().isEmpty() || origins.stream().anyMatch(origin -> origin.url().isSecure())
              ? trust(settings)
              : null;
      UpstreamMetrics metrics =
          last == null ? new UpstreamMetrics(registry, name, origins) : last.metrics();
      Upstream upstream =
          new Upstream(lists, named, origins, trust, metrics, new LinkedHashMap<>());
      upstreams.put(name, upstream);
      metrics.expect(origins);
      watch(origins, known, lists);
      return upstream;
    }

    /**
     * Makes these the upstreams in force. Comes after the last request was routed to the others.
     */
    void putInForce() {
      synchronized (Upstreams.this) {
        isReloading = false;
        Upstreams.this.putInForce(upstreams);
        if (upstreams.values().stream()
            .anyMatch(upstream -> !upstream.lists().watched().isEmpty())) {
          refreshLists();
        }
      }
    }

    /** Closes what was made, and leaves all as it is. */
    void abandon() {
      synchronized (Upstreams.this) {
        isReloading = false;
        exportOrigins();
        closeAllBut(inForce, upstreams);
      }
    }
  }
}
