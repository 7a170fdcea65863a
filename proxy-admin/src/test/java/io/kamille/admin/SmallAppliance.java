package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.CacheResources;
import io.kamille.admin.api.ClusterResources;
import io.kamille.admin.api.EngineResources;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.PurgeResources;
import io.kamille.admin.api.RequestResources;
import io.kamille.admin.api.TopResources;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.cache.Cache;
import io.kamille.cache.disk.Disk;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cluster.Cluster;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.OverloadLaw;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Sections;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.trace.TraceSettings;
import io.kamille.core.trace.Tracing;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts of an appliance that the control plane serves, with a loop that has no clients. */
final class SmallAppliance implements AutoCloseable {

  static final HostPort ANY_PORT = new HostPort("127.0.0.1", 0);

  final ManualClock clock = ManualClock.atSeconds(1_795_251_660L);
  final MetricRegistry registry = new MetricRegistry();
  final LoopGroup loops = new LoopGroup(1, PaceSettings.ADAPTIVE, registry);
  final BufferTuner tuner =
      BufferTuner.open(TuningSettings.DEFAULT, new SendBuffer(0, 0, 1 << 16, 1 << 17), registry);
  final List<RequestSample> samples = new ArrayList<>();
  volatile @Nullable Cluster cluster;
  private final Cache cache;

  SmallAppliance() throws IOException {
    cache = Cache.open(SharedCacheSettings.SECTION.defaults(), Disk.ofSystem(), registry, clock);
  }

  /** Of a control plane with usual limits. */
  static AdminSettings settings(HostPort address, Path tokenFile) {
    return Sections.copy(
            Sections.of(
                AdminSettings.SECTION, "{address: '%s', token-file: %s}", address, tokenFile))
        .with("answerLimit", Duration.ofSeconds(75))
        .record();
  }

  /** Serves them on any port; whoever opens it closes it. */
  AdminServer open(Path directory, Operation... more) throws IOException {
    return open(settings(ANY_PORT, directory.resolve("token")), more);
  }

  AdminServer open(AdminSettings settings, Operation... more) throws IOException {
    return AdminServer.open(
        settings,
        "1.2.3",
        operations(more),
        () -> {
          Cluster joined = cluster;
          return joined == null ? null : joined.values();
        },
        registry,
        clock,
        null,
        false);
  }

  /** All, and two that stand for those about a whole appliance. */
  List<Operation> operations(Operation... more) {
    List<Operation> all = new ArrayList<>(List.of(more));
    all.add(Operation.open("/readyz", "Ready.").immediately().by(() -> Answer.text(200, "ready")));
    all.add(
        Operation.get("/v1/status", Scope.READ, "Status.").by(() -> Answer.json(Map.of("a", 1))));
    all.addAll(EngineResources.of(loops, new Overload(0, OverloadLaw::new), tuner));
    all.addAll(new CacheResources(cache.operations()).operations());
    all.addAll(PurgeResources.of(cache.operations(), () -> cluster));
    all.addAll(
        new RequestResources(20, () -> samples, new Tracing(TraceSettings.OFF, clock), clock)
            .operations());
    all.addAll(new TopResources(_ -> Map.of()).operations());
    all.addAll(ClusterResources.of(() -> cluster, _ -> null));
    return all;
  }

  @Override
  public void close() {
    tuner.close();
    loops.close();
    cache.close();
  }
}
