package io.kamille.admin;

import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.KernelLimits;
import io.kamille.admin.tuning.TuningMetrics;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ApplianceView.CacheSnapshot;
import io.kamille.admin.view.ApplianceView.ListenerSnapshot;
import io.kamille.admin.view.ApplianceView.LoopSnapshot;
import io.kamille.admin.view.ApplianceView.MatchedRoute;
import io.kamille.admin.view.ApplianceView.RequestDurations;
import io.kamille.admin.view.ApplianceView.RequestExplanation;
import io.kamille.admin.view.ApplianceView.RouteSnapshot;
import io.kamille.admin.view.ApplianceView.TiersSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginState;
import io.kamille.cache.StoredObject;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.Policy;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.cluster.Cluster;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceJudgement;
import io.kamille.core.loop.PaceReason;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.names.OriginList;
import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.trace.TraceSettings;
import io.kamille.core.trace.Tracing;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An appliance that says what the test wants. */
final class FakeAppliance implements ApplianceView {

  /** Of a control plane on a loopback address. */
  static AdminSettings settings(HostPort address, Path tokenFile) {
    return new AdminSettings(
        Optional.of(address), false, tokenFile, true, 20, TlsSettings.OFF, Duration.ofSeconds(75));
  }

  PeakChoice peak = PeakChoice.AUTO;
  boolean hasDisk = true;

  private static final MetricDescriptor TURNS =
      MetricDescriptor.histogram("kamille_loop_turn_seconds", "Turns.");

  volatile State state = State.READY;
  volatile boolean isBroken;
  volatile PaceSettings pace = PaceSettings.ADAPTIVE;
  volatile boolean isFull;
  volatile long watchedSeconds;
  volatile @Nullable Cluster cluster;

  /** What a purge waits for. */
  Runnable kept = () -> {};

  final List<String> purged = new ArrayList<>();
  final List<PurgeReport> reports = new ArrayList<>();

  final Tracing tracing = new Tracing(TraceSettings.OFF, WallClock.system());

  final BufferTuner tuner =
      new BufferTuner(
          TuningSettings.DEFAULT,
          new SendBuffer(0, 0, 1 << 16, 1 << 17),
          new KernelLimits(1 << 21, 1 << 21),
          () -> 0,
          new TuningMetrics(new MetricRegistry()),
          () -> 0);

  @Override
  public BufferTuner tuner() {
    return tuner;
  }

  @Override
  public State state() {
    if (isBroken) {
      throw new IllegalStateException("broken on purpose");
    }
    return state;
  }

  @Override
  public String version() {
    return "1.2.3";
  }

  @Override
  public long startedEpochMillis() {
    return 1_795_251_600_000L;
  }

  @Override
  public List<ListenerSnapshot> listeners() {
    return List.of(new ListenerSnapshot("127.0.0.1:8080", 3, "2027-01-01T00:00:00Z"));
  }

  @Override
  public List<LoopSnapshot> loops() {
    return List.of(new LoopSnapshot("kamille-loop-1", 100, 3, 1.25));
  }

  @Override
  public CacheSnapshot cache() {
    return new CacheSnapshot(1 << 20, 4096, 2, 75, 25);
  }

  @Override
  public TiersSnapshot tiers() {
    return new TiersSnapshot(
        new MemorySnapshot(1 << 20, 1000, 500, 300, 20, 7, 0),
        2,
        9,
        new PolicySnapshot(
            PolicyChoice.AUTO,
            Policy.LRU,
            1_795_251_600,
            "lru hits more",
            3,
            List.of(
                new Estimate(Policy.TINYLFU, 0.25, 0.123456), new Estimate(Policy.LRU, 0.5, 0.75)),
            4096,
            0.25),
        hasDisk
            ? new PeakSnapshot(
                peak, TierMode.PEAK, 1_795_251_600, "slow", 4, 64e6, 6.4, 4e6, 50e6, 100, 80, 7, 5)
            : null);
  }

  @Override
  public boolean choosePeak(PeakChoice choice) {
    peak = choice;
    return hasDisk;
  }

  @Override
  public void watch(long seconds) {
    watchedSeconds = seconds;
  }

  @Override
  public @Nullable Forecast forecast() {
    return watchedSeconds == 0
        ? null
        : new Forecast(
            1_795_251_600,
            1_795_251_600 + watchedSeconds,
            true,
            0.25,
            List.of(new Forecast.Estimate(Policy.LRU, 2, 2 << 20, 400, 0.5, 0.25, 0.75, 0.025)));
  }

  @Override
  public @Nullable Cluster cluster() {
    return cluster;
  }

  /** What was ordered. */
  final List<String> leased = new ArrayList<>();

  @Override
  public List<UpstreamSnapshot> upstreams() {
    return List.of(
        new UpstreamSnapshot(
            "site",
            List.of(
                new OriginSnapshot(
                    "127.0.0.1:9000",
                    OriginList.Kind.CONFIGURATION,
                    null,
                    OriginState.OUT,
                    1,
                    0,
                    4,
                    null,
                    "",
                    null,
                    null)),
            List.of()));
  }

  @Override
  public Draining drain(String upstream, String origin, long seconds) {
    return Draining.UNKNOWN;
  }

  @Override
  public Leasing lease(String upstream, OriginSettings origin, long seconds) {
    if (!upstream.equals("site")) {
      return Leasing.UNKNOWN;
    }
    leased.add(origin + " " + seconds);
    return origin.url().isSecure() ? Leasing.UNSUITED : Leasing.DONE;
  }

  @Override
  public boolean endLease(String upstream, String origin) {
    return leased.removeIf(one -> one.contains(origin));
  }

  @Override
  public List<RouteSnapshot> routes() {
    return List.of(
        new RouteSnapshot("*/", "*", "/", "site", true, 100, 75, 2, "2026-11-21T09:00:59.500Z"),
        new RouteSnapshot("*/new", "*", "/new", "site", false, 0, 0, 0, null));
  }

  @Override
  public RequestDurations durations() {
    return new RequestDurations(Histogram.Snapshot.EMPTY, Histogram.Snapshot.EMPTY);
  }

  @Override
  public List<RequestSample> requests() {
    long start = Instant.parse("2026-11-21T09:00:00Z").toEpochMilli();
    return List.of(
        new RequestSample(
            0,
            1,
            start,
            250_000,
            "GET",
            "http://h/a",
            "",
            200,
            7,
            "hit",
            "",
            "*/",
            "",
            "192.0.2.1",
            ""),
        new RequestSample(
            0,
            2,
            start + 1000,
            1_500_000,
            "GET",
            "http://h/b",
            "q",
            502,
            0,
            "miss",
            "connection_refused",
            "*/",
            "",
            "192.0.2.1",
            ""));
  }

  @Override
  public Tracing tracing() {
    return tracing;
  }

  @Override
  public int samplesPerSecond() {
    return 20;
  }

  @Override
  public List<Double> shedShares() {
    return List.of(0.25);
  }

  @Override
  public List<LoopTurns> turns() {
    Histogram turns = new MetricRegistry().histogram(TURNS);
    turns.record(1_000);
    turns.record(5_000);
    return List.of(
        new LoopTurns(
            "kamille-loop-1",
            250_000,
            PaceReason.SAVES,
            400,
            1_200,
            2_000,
            3,
            0.25,
            new PaceJudgement(true, 250_000, 0.15, 0.04, 150_000, System.nanoTime()),
            300,
            75_000_000,
            0,
            0,
            0,
            0,
            1,
            turns.snapshot()));
  }

  @Override
  public PaceSettings pace() {
    return pace;
  }

  @Override
  public void pace(PaceSettings settings) {
    pace = settings;
  }

  @Override
  public List<StoredObject> objects(String url) {
    return List.of(
        new StoredObject(
            200,
            StoredObject.State.FRESH,
            "serve",
            20,
            40,
            new StoredObject.Lifetime(60, "max-age"),
            false,
            true,
            0,
            30,
            "memory",
            7,
            new StoredObject.Size(100, 11, 128),
            List.of(new StoredObject.SelectedBy("accept", null)),
            "\"a\"",
            null,
            url,
            "gzip",
            List.of(new StoredObject.Form("br", 5))));
  }

  @Override
  public RequestExplanation explain(RequestHead request, @Nullable InetAddress client) {
    Reason seen = new Reason("seen", "§", request.fields().toString().strip(), request.target());
    Reason asking = new Reason("client", "§", String.valueOf(client), "asks");
    return new RequestExplanation(
        new MatchedRoute("*/", "*", "/", "site", true),
        new Explanation(
            Explanation.Decision.VALIDATE,
            ForwardReason.STALE,
            "http://h/",
            client == null ? List.of(seen) : List.of(seen, asking)));
  }

  @Override
  public @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft, boolean isDryRun) {
    return isFull ? null : report(target, isSoft, isDryRun);
  }

  @Override
  public void awaitKept() {
    kept.run();
  }

  private PurgeReport report(PurgeTarget target, boolean isSoft, boolean isDryRun) {
    PurgeReport report =
        new PurgeReport(
            reports.size() + 1L,
            target,
            isSoft,
            isDryRun,
            1_795_251_600L,
            target.kind() == PurgeTarget.Kind.URL
                ? PurgeReport.State.DONE
                : PurgeReport.State.SWEEPING,
            2);
    purged.addAll(target.names());
    reports.addFirst(report);
    return report;
  }

  @Override
  public List<PurgeReport> purges() {
    return reports;
  }
}
