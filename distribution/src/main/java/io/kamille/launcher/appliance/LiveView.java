package io.kamille.launcher.appliance;

import io.kamille.admin.live.RouteTraffic;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ApplianceView.CacheSnapshot;
import io.kamille.admin.view.ApplianceView.ListenerSnapshot;
import io.kamille.admin.view.ApplianceView.LoopSnapshot;
import io.kamille.admin.view.ApplianceView.ReloadSnapshot;
import io.kamille.admin.view.ApplianceView.RequestDurations;
import io.kamille.admin.view.ApplianceView.RequestExplanation;
import io.kamille.admin.view.ApplianceView.RouteSnapshot;
import io.kamille.admin.view.ApplianceView.TiersSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.StoredObject;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.peer.Peers.Ownership;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.http.Authority;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.LoopTop;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.route.Route;
import io.kamille.core.trace.Tracing;
import io.kamille.launcher.acme.CertificateKeeper;
import io.kamille.launcher.chain.RouteExplainer;
import io.kamille.launcher.chain.RouteStations;
import io.kamille.launcher.configuration.RoutesByHost;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The running appliance as the control plane sees it. Any thread. */
final class LiveView implements ApplianceView {

  private static final System.Logger LOG = System.getLogger("kamille.admin");

  /** How long the control plane waits for the disk before it answers all the same. */
  private static final long KEPT_LIMIT_SECONDS = 5;

  private final Appliance appliance;

  LiveView(Appliance appliance) {
    this.appliance = appliance;
  }

  @Override
  public State state() {
    return appliance.state();
  }

  @Override
  public String version() {
    return appliance.version();
  }

  @Override
  public long startedEpochMillis() {
    return appliance.startedEpochMillis();
  }

  @Override
  public List<ListenerSnapshot> listeners() {
    return appliance.clientSide().listenerSnapshots();
  }

  @Override
  public ReloadSnapshot reload() {
    return appliance.reloaded();
  }

  @Override
  public List<LoopSnapshot> loops() {
    return appliance.clientSide().loopSnapshots();
  }

  @Override
  public CacheSnapshot cache() {
    CacheOperations cache = appliance.assembly().cache();
    Totals totals = appliance.totals();
    return new CacheSnapshot(
        cache.capacityBytes(),
        cache.usedBytes(),
        cache.keys(),
        totals.hits(),
        totals.requests() - totals.hits());
  }

  @Override
  public TiersSnapshot tiers() {
    CacheOperations cache = appliance.assembly().cache();
    return new TiersSnapshot(
        cache.memory(),
        cache.keys(),
        cache.index().evictions(),
        cache.index().policy(),
        cache.peak().map(PeakWatch::snapshot).orElse(null));
  }

  @Override
  public boolean choosePeak(PeakChoice choice) {
    Optional<PeakWatch> peak = appliance.assembly().cache().peak();
    peak.ifPresent(
        watch -> {
          LOG.log(Level.INFO, "peak mode is set to {0} through the API", choice.token());
          watch.choose(choice);
        });
    return peak.isPresent();
  }

  @Override
  public void watch(long seconds) {
    appliance.assembly().cache().index().watch(seconds);
  }

  @Override
  public @Nullable Forecast forecast() {
    return appliance.assembly().cache().index().forecast();
  }

  @Override
  public List<UpstreamSnapshot> upstreams() {
    return appliance.assembly().upstreams();
  }

  @Override
  public Draining drain(String upstream, String name, long seconds) {
    long now = WallClock.system().nanos();
    List<Origin> all = appliance.assembly().origins().getOrDefault(upstream, List.of());
    List<Origin> drained = all.stream().filter(origin -> origin.name().equals(name)).toList();
    if (drained.isEmpty()) {
      return Draining.UNKNOWN;
    }
    if (seconds == 0) {
      drained.forEach(origin -> origin.health().endDrain());
      LOG.log(Level.INFO, "the drain of {0} of {1} is ended through the API", name, upstream);
    } else if (all.stream().noneMatch(other -> !drained.contains(other) && isAsked(other, now))) {
      return Draining.LAST;
    } else {
      long until = now + TimeUnit.SECONDS.toNanos(seconds);
      drained.forEach(origin -> origin.health().drain(until));
      String said = "{0} of {1} is drained through the API for {2} s";
      LOG.log(Level.INFO, said, name, upstream, seconds);
    }
    return Draining.DONE;
  }

  @Override
  public Leasing lease(String upstream, OriginSettings origin, long seconds) {
    return appliance.assembly().leases().put(upstream, origin, seconds);
  }

  @Override
  public boolean endLease(String upstream, String origin) {
    return appliance.assembly().leases().end(upstream, origin);
  }

  private static boolean isAsked(Origin origin, long now) {
    return origin.health().isIn() && origin.health().drainedNanos(now) == 0;
  }

  @Override
  public List<RouteSnapshot> routes() {
    WallClock clock = WallClock.system();
    return appliance.assembly().routes().stream()
        .map(
            route -> {
              String host = route.host() == null ? Route.ANY_HOST : route.host();
              RouteTraffic.Counts counts =
                  appliance.clientSide().traffic(RoutesByHost.nameOf(route));
              return new RouteSnapshot(
                  RoutesByHost.nameOf(route),
                  host,
                  route.path(),
                  RouteStations.targetName(route),
                  route.isCached(),
                  counts.requests(),
                  counts.hits(),
                  counts.failures(),
                  counts.requests() == 0 ? null : time(clock, counts.lastNanos()));
            })
        .toList();
  }

  private static String time(WallClock clock, long nanos) {
    long ago = TimeUnit.NANOSECONDS.toMillis(Math.max(0, System.nanoTime() - nanos));
    return Instant.ofEpochMilli(clock.epochMillis() - ago).toString();
  }

  @Override
  public RequestDurations durations() {
    return appliance.durations();
  }

  @Override
  public BufferTuner tuner() {
    return appliance.tuner();
  }

  @Override
  public List<RequestSample> requests() {
    return appliance.clientSide().samples();
  }

  @Override
  public Map<String, Long> top(LoopTop.Kind kind) {
    return appliance.clientSide().top(kind);
  }

  @Override
  public Tracing tracing() {
    return appliance.tracing();
  }

  @Override
  public int samplesPerSecond() {
    return appliance.admin().requestSamples();
  }

  @Override
  public List<Double> shedShares() {
    return appliance.overload().shares();
  }

  @Override
  public List<LoopTurns> turns() {
    return appliance.loops().turns();
  }

  @Override
  public PaceSettings pace() {
    return appliance.loops().pace();
  }

  @Override
  public void pace(PaceSettings settings) {
    appliance.loops().pace(settings);
  }

  @Override
  public List<StoredObject> objects(String url) {
    return appliance.assembly().cache().objects(url).orElse(List.of());
  }

  @Override
  public RequestExplanation explain(RequestHead request, @Nullable InetAddress client) {
    List<Reason> first = new ArrayList<>();
    List<ListenerSettings> listeners = appliance.clientSide().listeners();
    InetAddress asking =
        client == null ? null : RouteExplainer.named(listeners, request, client, first);
    RequestExplanation explained = appliance.assembly().explainer().explain(request, asking);
    String host = Authority.hostOf(request.authority()).toLowerCase(Locale.ROOT);
    Reason shown = request.isSecure() ? appliance.clientSide().tls().explain(host) : null;
    if (shown != null) {
      first.add(shown);
    }
    return first.isEmpty()
        ? explained
        : new RequestExplanation(explained.route(), explained.explanation().after(first));
  }

  @Override
  public @Nullable Ownership ownership(RequestHead request) {
    return appliance.assembly().explainer().ownership(request);
  }

  @Override
  public long missingCertificates() {
    return appliance.certificates().map(CertificateKeeper::missing).orElse(0L);
  }

  @Override
  public @Nullable Cluster cluster() {
    return appliance.cluster();
  }

  @Override
  public @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft, boolean isDryRun) {
    CacheOperations cache = appliance.assembly().cache();
    if (isDryRun) {
      return cache.purges().count(target, isSoft);
    }
    return cache.purges().purge(target, isSoft);
  }

  @Override
  public void awaitKept() {
    if (!isKept(appliance.assembly().cache()::whenKept, KEPT_LIMIT_SECONDS)) {
      LOG.log(
          Level.WARNING,
          "a purge holds, but the disk has not taken it down within {0} s: a kill now would undo"
              + " it for what is on the disk",
          KEPT_LIMIT_SECONDS);
    }
  }

  /** Whether the disk has taken everything down within that time. */
  static boolean isKept(Consumer<Runnable> whenKept, long limitSeconds) {
    CountDownLatch isKept = new CountDownLatch(1);
    whenKept.accept(isKept::countDown);
    try {
      return isKept.await(limitSeconds, TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public List<PurgeReport> purges() {
    return appliance.assembly().cache().purges().recent();
  }
}
