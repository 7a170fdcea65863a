package io.kamille.launcher.appliance;

import io.kamille.admin.AdminServer;
import io.kamille.admin.AdminSettings;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.CacheResources;
import io.kamille.admin.api.ClusterResources;
import io.kamille.admin.api.EngineResources;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.PurgeResources;
import io.kamille.admin.api.RequestResources;
import io.kamille.admin.api.TopResources;
import io.kamille.admin.auth.Scope;
import io.kamille.cache.CacheOperations;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.acme.CertificateKeeper;
import io.kamille.launcher.acme.CertificateResources;
import io.kamille.launcher.appliance.Appliance.ReloadSnapshot;
import io.kamille.launcher.appliance.ClientSide.ListenerSnapshot;
import io.kamille.launcher.appliance.ClientSide.LoopSnapshot;
import io.kamille.launcher.warm.WarmResources;
import java.io.IOException;
import java.net.BindException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the control plane serves of an appliance: the resources of its parts, and what tells of the
 * whole.
 *
 * @param resources that change the configuration; none if nobody may
 */
record ControlPlane(Appliance appliance, List<Operation> resources) {

  /**
   * Serves it.
   *
   * @param address where
   * @param isBesideAnother whether another process of ours may still listen there
   */
  AdminServer open(HostPort address, boolean isBesideAnother) throws StartFailure {
    AdminSettings settings = appliance.admin();
    try {
      return AdminServer.open(
          settings,
          appliance.version(),
          operations(),
          this::sharedValues,
          appliance.metrics(),
          WallClock.system(),
          appliance.clientSide().adminTls(),
          isBesideAnother);
    } catch (BindException taken) {
      throw new StartFailure(
          StartFailure.Cause.ADDRESS,
          "cannot serve the admin API on " + address + ": " + taken.getMessage());
    } catch (IOException | IllegalArgumentException failed) {
      throw new StartFailure(
          StartFailure.Cause.FILE,
          "cannot open the admin API, with its token in "
              + settings.tokenFile()
              + ": "
              + (failed instanceof IOException file ? DurableFile.why(file) : failed.getMessage()));
    }
  }

  private @Nullable SharedValues sharedValues() {
    Cluster cluster = appliance.cluster();
    return cluster == null ? null : cluster.values();
  }

  List<Operation> operations() {
    RouteSet routes = appliance.routes();
    ClientSide clientSide = appliance.clientSide();
    MetricRegistry registry = appliance.metrics();
    List<Operation> all = new ArrayList<>(whole());
    all.addAll(EngineResources.of(appliance.loops(), appliance.overload(), appliance.tuner()));
    all.addAll(new CacheResources(routes.cache()).operations());
    all.addAll(PurgeResources.of(routes.cache(), appliance::cluster));
    all.addAll(new OriginResources(routes, clientSide::traffic, registry).operations());
    all.addAll(new ExplainResources(routes, clientSide).operations());
    all.addAll(
        new RequestResources(
                appliance.admin().requestSamples(),
                clientSide::samples,
                clientSide.tracing(),
                WallClock.system())
            .operations());
    all.addAll(new TopResources(clientSide::top).operations());
    all.addAll(
        ClusterResources.of(appliance::cluster, request -> routes.explainer().ownership(request)));
    all.addAll(resources);
    all.addAll(new CertificateResources(appliance::certificates).operations());
    all.addAll(WarmResources.of(appliance.warmUp()));
    return all;
  }

  // The whole

  private List<Operation> whole() {
    return List.of(
        Operation.open("/readyz", "Says whether to send requests here.")
            .answersAs("text/plain")
            .immediately()
            .by(
                () ->
                    readiness(
                        appliance.state(),
                        appliance.certificates().map(CertificateKeeper::missing).orElse(0L))),
        Operation.get("/v1/status", Scope.READ, "The appliance at a glance.")
            .answers(Status.class)
            .by(() -> Answer.json(status())));
  }

  /** Without certificates, too: else a load balancer would keep the authority away. */
  static Answer readiness(Appliance.Phase state, long missingCertificates) {
    return switch (state) {
      case STARTING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "starting");
      case READY ->
          Answer.text(
              StatusCode.OK,
              missingCertificates == 0
                  ? "ready"
                  : "ready\ncertificates: waiting for " + missingCertificates);
      case DRAINING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "draining");
    };
  }

  private Status status() {
    long started = appliance.startedEpochMillis();
    return new Status(
        appliance.version(),
        appliance.state(),
        Instant.ofEpochMilli(started).toString(),
        (WallClock.system().epochMillis() - started) / 1000,
        appliance.clientSide().listenerSnapshots(),
        appliance.clientSide().loopSnapshots(),
        CacheSnapshot.of(appliance.routes().cache(), appliance.totals()),
        appliance.routes().upstreams(),
        appliance.reloaded(),
        !resources.isEmpty(),
        appliance.cluster() != null);
  }

  private record Status(
      String version,
      Appliance.Phase state,
      String started,
      long uptimeSeconds,
      List<ListenerSnapshot> listeners,
      List<LoopSnapshot> loops,
      CacheSnapshot cache,
      List<UpstreamSnapshot> upstreams,
      ReloadSnapshot reload,
      boolean configurable,
      boolean clustered) {}

  /**
   * The cache.
   *
   * @param capacityBytes it may use
   * @param usedBytes it uses now
   * @param objects stored responses
   * @param hits requests answered from it since the start
   * @param misses requests forwarded since the start
   * @param hitRatio the share of requests that were answered from the cache, 0 before the first
   */
  private record CacheSnapshot(
      long capacityBytes, long usedBytes, long objects, long hits, long misses, double hitRatio) {

    static CacheSnapshot of(CacheOperations cache, Totals totals) {
      return new CacheSnapshot(
          cache.capacityBytes(),
          cache.usedBytes(),
          cache.keys(),
          totals.hits(),
          totals.requests() - totals.hits(),
          totals.requests() == 0 ? 0 : (double) totals.hits() / totals.requests());
    }
  }
}
