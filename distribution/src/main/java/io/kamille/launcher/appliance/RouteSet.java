package io.kamille.launcher.appliance;

import io.kamille.admin.StateDirectory;
import io.kamille.cache.Cache;
import io.kamille.cache.CacheHandover;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.removal.RouteQueries.Way;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.peer.PeerEntrance;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.answer.FileThreads;
import io.kamille.core.auth.AuthThreads;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.gate.AdmissionMetrics;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.RateLimit;
import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.MirrorHandler;
import io.kamille.core.origin.send.SpoolSettings;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.route.Router;
import io.kamille.core.socket.Network;
import io.kamille.launcher.chain.Link;
import io.kamille.launcher.chain.RouteChain;
import io.kamille.launcher.chain.RouteExplainer;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.configuration.RoutesByHost.Place;
import io.kamille.launcher.version.ConfigControl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What stands before all routes, and the routes of the present configuration: PURGE, the router,
 * and a {@link RouteChain} for each route. Any thread; one reload at a time.
 */
final class RouteSet implements AutoCloseable {

  /*
   * The cache lives as long as the process: a reload gives the routes new handlers over the same
   * store. Upstreams that are the same go on; Upstreams says what becomes of the others.
   */
  private final WallClock clock = WallClock.system();
  private final OriginNames names;
  private final Network network;
  private final Router router = new Router(RouteTable.of(List.of()));
  private final Cache cache;
  private final PurgeMethod purgeMethod;
  private PeakChoice peak;
  private final LongAdder overRate = new LongAdder();
  private final AddressMask shown;
  private final LongAdder overDryRun = new LongAdder();
  private final @Nullable ClusterSecret secret;
  private final Upstreams upstreams;
  private final FileThreads files = new FileThreads();
  private final AuthThreads auth = new AuthThreads();
  private final LongAdder mirrorDropped = new LongAdder();
  private final @Nullable Peers peers;
  private final Link.Parts parts;
  // Volatile: replaced by whoever reloads, read by the control plane.
  private volatile Routing routing = new Routing();

  /**
   * The chain of that configuration.
   *
   * @param overload asked about what would be forwarded
   * @param machine whose disk, names and network it uses
   * @throws IOException if the directory of the disk tier cannot be had
   */
  RouteSet(Configuration configuration, MetricRegistry registry, Overload overload, Machine machine)
      throws IOException {
    shown = configuration.log().access().client();
    this.names = machine.names().apply(registry);
    network = machine.network();
    ClusterSettings cluster = configuration.cluster();
    secret =
        cluster.isOn()
            ? ClusterSecret.read(
                Objects.requireNonNull(cluster.secretFile(), "cluster.secret-file"))
            : null;
    upstreams = new Upstreams(names, network, registry, clock, secret, disk(configuration.spool()));
    registry.counting(MirrorHandler.DROPPED, mirrorDropped::sum);
    cache = Cache.open(configuration.cache(), machine.disk(), registry, clock);
    cache.routes(this::ways);
    peers = openPeers(cluster);
    if (cluster.isOn()) {
      cache.operations().purges().tellOfInvalid(this::invalidated);
    }
    String name = Link.cacheName(cluster);
    parts = new Link.Parts(cache, peers, name, overload, files, auth, mirrorDropped, clock);
    purgeMethod = cache.purgeMethod(router, request -> router.table().find(request) != null);
    peak = configuration.cache().disk().peak();
    prepare(configuration).apply();
    AdmissionMetrics.register(registry, overRate, overDryRun);
  }

  private Spool.Disk disk(SpoolSettings spool) {
    Path place = StateDirectory.path().resolve("spool");
    return new Spool.Disk(place, spool.mostBytes(), spool.fileBytes(), files);
  }

  private @Nullable Peers openPeers(ClusterSettings cluster) {
    if (secret == null || cluster.peers().address() == null) {
      return null;
    }
    try {
      return Peers.open(cluster, secret, upstreams.parts());
    } catch (IOException refused) {
      throw new UncheckedIOException(refused.getMessage(), refused);
    }
  }

  /** The secret of the cluster; null if there is none. */
  @Nullable ClusterSecret secret() {
    return secret;
  }

  /** The other nodes of the cluster, if they are asked. */
  Optional<Peers> peers() {
    return Optional.ofNullable(peers);
  }

  /** The station that the requests of other nodes come to first. */
  Optional<ExchangeHandler> peerEntrance() {
    return peers().map(asked -> new PeerEntrance(asked, router));
  }

  /** How the routes that may take requests for that target make their keys. */
  private List<Way> ways(RequestHead request) {
    Routing now = routing;
    List<Way> ways = new ArrayList<>();
    for (Route route : now.table.all(request)) {
      RouteChain chain = Objects.requireNonNull(now.chains.get(route));
      CacheHandler caching = chain.cache();
      if (caching != null) {
        ways.add(new Way(caching.query(), route.partition()));
      }
    }
    return ways.isEmpty() ? List.of(Way.PLAIN) : ways;
  }

  /** What was put on the running process stays unless the configuration has changed in that. */
  private void reloadPeak(Configuration configuration) {
    PeakChoice next = configuration.cache().disk().peak();
    if (next != peak) {
      peak = next;
      cache.operations().peak().ifPresent(watch -> watch.choose(next));
    }
  }

  /** The station that every request comes to first. */
  ExchangeHandler entrance() {
    return purgeMethod;
  }

  /** Where sockets come from. */
  Network network() {
    return network;
  }

  CacheOperations cache() {
    return cache.operations();
  }

  /** Other nodes may have stored what an answer to an unsafe request made invalid. */
  private void invalidated(RequestHead request) {
    peers().ifPresent(asked -> asked.invalidated(request));
  }

  /** Joins the cluster of the configuration. */
  Cluster join(
      Configuration configuration, String version, MetricRegistry registry, long sinceMillis)
      throws StartFailure {
    return NodeOfCluster.join(configuration, version, cache, registry, sinceMillis);
  }

  CacheHandover handover() {
    return cache.handover();
  }

  /** What explains requests under the present configuration. */
  RouteExplainer explainer() {
    Routing now = routing;
    return new RouteExplainer(now.table, now.chains, purgeMethod, peers());
  }

  /** The routes, in the order of the configuration. */
  List<RouteSettings> settings() {
    return routing.settings;
  }

  /** The origins of each upstream, by its name. */
  Map<String, List<Origin>> origins() {
    return upstreams.origins();
  }

  /** The upstreams, as the control plane sees them. */
  List<UpstreamSnapshot> upstreams() {
    return upstreams.snapshots();
  }

  /** The origins that the API has added. */
  OriginsByApi originsByApi() {
    return new OriginsByApi(upstreams);
  }

  /** Makes the routes and upstreams of another configuration, and changes nothing. */
  ConfigControl.Step prepare(Configuration configuration) {
    Upstreams.Next next = upstreams.next(configuration);
    Routing routed = routing(configuration, next);
    return new ConfigControl.Step() {
      @Override
      public void apply() {
        router.swap(routed.table);
        routing = routed;
        next.putInForce();
        purgeMethod.allow(configuration.cache().purgeFrom(), configuration.cache().tagFields());
        cache.operations().index().choose(configuration.cache().policy());
        cache.operations().index().keepVariants(configuration.cache().variants());
        reloadPeak(configuration);
      }

      @Override
      public void abandon() {
        next.abandon();
      }
    };
  }

  private Routing routing(Configuration configuration, Upstreams.Next next) {
    try {
      return new Routing(configuration, next);
    } catch (Throwable fault) {
      next.abandon();
      throw fault;
    }
  }

  @Override
  public void close() {
    peers().ifPresent(Peers::close);
    upstreams.close();
    files.close();
    auth.close();
    names.close();
    network.close();
  }

  /** Gives the memory back. Comes after the last loop has ended. */
  void closeCache() {
    cache.close();
  }

  /** The routes of one configuration, with what is known of them by name; swapped whole. */
  private final class Routing {

    private final Map<Route, RouteChain> chains = new LinkedHashMap<>();
    private final Map<String, List<RateLimit>> rateLimits = new LinkedHashMap<>();
    private final List<RouteSettings> settings;
    private final RouteTable table;

    /** None. */
    Routing() {
      settings = List.of();
      table = RouteTable.of(List.of());
    }

    Routing(Configuration configuration, Upstreams.Next next) {
      settings = List.copyOf(configuration.routes());
      table = RouteTable.of(routes(configuration, next));
    }

    private List<Route> routes(Configuration configuration, Upstreams.Next next) {
      Map<String, RouteChain> byName = new LinkedHashMap<>();
      List<Route> routes = new ArrayList<>();
      for (Place place : RoutesByHost.places(configuration.routes())) {
        RouteChain chain =
            place.isPastCache()
                ? Objects.requireNonNull(byName.get(place.name())).pastCache(place.path())
                : chain(place, configuration, next);
        byName.putIfAbsent(place.name(), chain);
        Route route =
            new Route(
                place.name(), place.host(), place.path(), place.settings().match(), chain.first());
        chains.put(route, chain);
        routes.add(route);
      }
      return routes;
    }

    private RouteChain chain(Place place, Configuration configuration, Upstreams.Next next) {
      RouteGate rates = rates(place.name(), place.settings());
      return new RouteChain(place.settings(), configuration, parts, rates, next);
    }

    private RouteGate rates(String route, RouteSettings settings) {
      RouteGate all = RouteGate.OPEN;
      for (RateLimitSettings asked : settings.limits().rates()) {
        all = all.and(limit(route, asked));
      }
      return all;
    }

    // The limit of the configuration before this one goes on, if it is the same.
    private RateLimit limit(String route, RateLimitSettings asked) {
      List<RateLimit> limits = rateLimits.computeIfAbsent(route, _ -> new ArrayList<>());
      RateLimit limit =
          routing.rateLimits.getOrDefault(route, List.of()).stream()
              .filter(last -> last.goesBy(asked) && !limits.contains(last))
              .findFirst()
              .orElseGet(
                  () ->
                      new RateLimit(
                          asked,
                          route,
                          asked.isDryRun() ? overDryRun : overRate,
                          shown,
                          clock::nanos));
      limits.add(limit);
      return limit;
    }
  }
}
