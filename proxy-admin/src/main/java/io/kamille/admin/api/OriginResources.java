package io.kamille.admin.api;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ApplianceView.RouteSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.ListSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.core.http.StatusCode;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Routes, upstreams and their origins: how they do, and which of them get requests. */
record OriginResources(ApplianceView appliance, MetricRegistry registry) {

  private static final String ORIGIN = "/v1/upstreams/{upstream}/origins/{origin}";
  private static final String EXPECTED =
      "The content must be an object with state, drain or in, and for drain with for, such as 10m."
          + " Or it has url and ttl, such as 30s, and may have weight and backup.";
  private static final Set<String> OF_LEASE = Set.of("url", "ttl", "weight", "backup");
  private static final ValueType<Duration> LASTING =
      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(1));
  private static final double NANOS_PER_MILLI = 1e6;

  List<Operation> operations() {
    return List.of(
        Operation.get(
                "/v1/routes", Scope.READ, "The routes, and what was asked of each since the start.")
            .answers(Routes.class)
            .by(() -> Answer.json(new Routes(appliance.routes()))),
        Operation.get(
                "/v1/upstreams", Scope.READ, "The upstreams, their origins, and how they answer.")
            .answers(Upstreams.class)
            .by(this::upstreams),
        Operation.put(
                ORIGIN, Scope.OPERATE, "Adds an origin for a time, or drains one, or ends a drain.")
            .answers(Changed.class)
            .by(this::change),
        Operation.delete(ORIGIN, Scope.OPERATE, "Removes an origin that the API has added.")
            .by(this::remove));
  }

  private record Routes(List<RouteSnapshot> routes) {}

  // Upstreams

  private record Upstreams(List<Upstream> upstreams) {}

  private record Upstream(
      String name,
      long requests,
      long failures,
      long retries,
      Head head,
      List<Origin> origins,
      List<ListSnapshot> lists) {}

  private record Head(double p50Millis, double p99Millis) {}

  private record Origin(@JsonUnwrapped OriginSnapshot origin, long requests) {}

  private Answer upstreams() {
    MetricFamily requests = registry.read(UpstreamMetrics.REQUESTS);
    MetricFamily failures = registry.read(UpstreamMetrics.FAILURES);
    MetricFamily retries = registry.read(UpstreamMetrics.RETRIES);
    MetricFamily heads = registry.read(UpstreamMetrics.HEAD_TIME);
    return Answer.json(
        new Upstreams(
            appliance.upstreams().stream()
                .map(
                    upstream ->
                        new Upstream(
                            upstream.name(),
                            sum(requests, upstream.name()),
                            sum(failures, upstream.name()),
                            sum(retries, upstream.name()),
                            head(heads, upstream.name()),
                            origins(upstream, requests),
                            upstream.lists()))
                .toList()));
  }

  private static List<Origin> origins(UpstreamSnapshot upstream, MetricFamily requests) {
    return upstream.origins().stream()
        .map(origin -> new Origin(origin, sum(requests, upstream.name(), origin.name())))
        .toList();
  }

  /** Of all samples whose labels begin so. */
  private static long sum(MetricFamily family, String... labels) {
    List<String> wanted = List.of(labels);
    return (long)
        family.samples().stream()
            .filter(sample -> sample.labelValues().subList(0, wanted.size()).equals(wanted))
            .mapToDouble(MetricFamily.Sample::value)
            .sum();
  }

  private static Head head(MetricFamily family, String upstream) {
    Histogram.Snapshot durations =
        family.samples().stream()
            .filter(sample -> sample.labelValues().getFirst().equals(upstream))
            .map(MetricFamily.Sample::durations)
            .reduce(Histogram.Snapshot.EMPTY, Histogram.Snapshot::plus);
    return new Head(
        durations.quantileNanos(0.5) / NANOS_PER_MILLI,
        durations.quantileNanos(0.99) / NANOS_PER_MILLI);
  }

  // One origin

  /** For 0 seconds it is not drained. */
  private record Changed(String upstream, String origin, long seconds) {}

  private Answer change(AdminRequest request, Query query) throws InvalidRequest {
    Map<String, String> members = Json.texts(request, EXPECTED, "weight");
    return members.containsKey("ttl") ? lease(request, members) : drain(request, members);
  }

  private Answer drain(AdminRequest request, Map<String, String> members) throws InvalidRequest {
    String lasting = members.getOrDefault("for", "");
    long seconds = 0;
    if (members.equals(Map.of("state", "drain", "for", lasting))) {
      seconds = Json.value("for", lasting, LASTING).toSeconds();
    } else if (!members.equals(Map.of("state", "in"))) {
      throw new InvalidRequest(EXPECTED);
    }
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    return switch (appliance.drain(upstream, origin, seconds)) {
      case DONE -> Answer.json(new Changed(upstream, origin, seconds));
      case UNKNOWN -> Answer.problem(StatusCode.NOT_FOUND, "There is no such origin.");
      case LAST -> conflict("No other origin of this upstream would get its requests.");
    };
  }

  private Answer lease(AdminRequest request, Map<String, String> members) throws InvalidRequest {
    if (!OF_LEASE.containsAll(members.keySet())) {
      throw new InvalidRequest(EXPECTED);
    }
    long seconds = Json.value("ttl", members.getOrDefault("ttl", ""), LASTING).toSeconds();
    OriginUrl url = Json.value("url", members.getOrDefault("url", ""), OriginSettings.URL.type());
    OriginSettings named =
        new OriginSettings(
            url,
            Json.value("weight", members.getOrDefault("weight", "1"), OriginSettings.WEIGHT.type()),
            Json.value(
                "backup", members.getOrDefault("backup", "off"), OriginSettings.BACKUP.type()));
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    if (!url.name().equals(origin)) {
      throw new InvalidRequest("url: expected that of " + origin + ", as the path says.");
    }
    return switch (appliance.lease(upstream, named, seconds)) {
      case DONE -> Answer.json(new Changed(upstream, origin, seconds));
      case UNKNOWN -> Answer.problem(StatusCode.NOT_FOUND, "There is no such upstream.");
      case NAMED -> conflict("The configuration, a file or DNS names this origin.");
      case UNSUITED -> conflict("The protocol or the TLS of this upstream does not suit this URL.");
      case FULL -> conflict("This upstream has as many origins of the API as it may.");
    };
  }

  private static Answer conflict(String sentence) {
    return Answer.problem(StatusCode.CONFLICT, sentence);
  }

  private Answer remove(AdminRequest request, Query query) {
    return appliance.endLease(request.parameter("upstream"), request.parameter("origin"))
        ? Answer.nothing()
        : Answer.problem(StatusCode.NOT_FOUND, "The API has added no such origin.");
  }
}
