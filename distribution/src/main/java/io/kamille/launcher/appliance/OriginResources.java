package io.kamille.launcher.appliance;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.route.Route;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import io.kamille.launcher.appliance.UpstreamSnapshot.ListSnapshot;
import io.kamille.launcher.appliance.UpstreamSnapshot.OriginSnapshot;
import io.kamille.launcher.chain.RouteStations;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Routes, upstreams and their origins: how they do, and which of them get requests. */
record OriginResources(
    RouteSet routes, Function<String, RouteTraffic.Counts> traffic, MetricRegistry registry) {

  private static final System.Logger LOG = System.getLogger("kamille.admin");
  private static final String ORIGIN = "/v1/upstreams/{upstream}/origins/{origin}";
  private static final String EXPECTED =
      "The content must be an object with state, drain or in, and for drain with for, such as 10m."
          + " Or it has url and ttl, such as 30s, and may have weight and backup.";
  private static final ValueType<Duration> LASTING =
      ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(1));
  private static final double NANOS_PER_MILLI = 1e6;

  List<Operation> operations() {
    return List.of(
        Operation.get(
                "/v1/routes", Scope.READ, "The routes, and what was asked of each since the start.")
            .answers(Routes.class)
            .by(
                () ->
                    Answer.json(new Routes(routes.settings().stream().map(this::route).toList()))),
        Operation.get(
                "/v1/upstreams", Scope.READ, "The upstreams, their origins, and how they answer.")
            .answers(AllUpstreams.class)
            .by(this::upstreams),
        Operation.put(
                ORIGIN, Scope.OPERATE, "Adds an origin for a time, or drains one, or ends a drain.")
            .answers(Changed.class)
            .by(this::change),
        Operation.delete(ORIGIN, Scope.OPERATE, "Removes an origin that the API has added.")
            .by(this::remove));
  }

  // Routes

  private record Routes(List<RouteSnapshot> routes) {}

  /**
   * One route, and what was asked of it since the start.
   *
   * @param name its host and path, as log and metrics have it
   * @param host such as {@code example.org}; {@code *} for any
   * @param cached whether its responses may be stored
   * @param hits requests answered from the store
   * @param failures requests answered with 5xx
   * @param lastRequest when its last request ended, as RFC 3339 says it; null if there was none
   */
  private record RouteSnapshot(
      String name,
      String host,
      String path,
      String upstream,
      boolean cached,
      long requests,
      long hits,
      long failures,
      @Nullable String lastRequest) {}

  private RouteSnapshot route(RouteSettings route) {
    String name = RoutesByHost.nameOf(route);
    RouteTraffic.Counts counts = traffic.apply(name);
    return new RouteSnapshot(
        name,
        route.host() == null ? Route.ANY_HOST : route.host(),
        route.path(),
        RouteStations.targetName(route),
        route.isCached(),
        counts.requests(),
        counts.hits(),
        counts.failures(),
        counts.requests() == 0 ? null : time(counts.lastNanos()));
  }

  private static String time(long nanos) {
    long ago = TimeUnit.NANOSECONDS.toMillis(Math.max(0, System.nanoTime() - nanos));
    return Instant.ofEpochMilli(WallClock.system().epochMillis() - ago).toString();
  }

  // Upstreams

  private record AllUpstreams(List<Upstream> upstreams) {}

  private record Upstream(
      String name,
      long requests,
      long failures,
      long retries,
      Head head,
      List<Asked> origins,
      List<ListSnapshot> lists) {}

  private record Head(double p50Millis, double p99Millis) {}

  private record Asked(@JsonUnwrapped OriginSnapshot origin, long requests) {}

  private Answer upstreams() {
    MetricFamily requests = registry.read(UpstreamMetrics.REQUESTS);
    MetricFamily failures = registry.read(UpstreamMetrics.FAILURES);
    MetricFamily retries = registry.read(UpstreamMetrics.RETRIES);
    MetricFamily heads = registry.read(UpstreamMetrics.HEAD_TIME);
    return Answer.json(
        new AllUpstreams(
            routes.upstreams().stream()
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

  private static List<Asked> origins(UpstreamSnapshot upstream, MetricFamily requests) {
    return upstream.origins().stream()
        .map(origin -> new Asked(origin, sum(requests, upstream.name(), origin.name())))
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

  /** What is asked for: the first two of a drain, or the others of an origin. */
  private record Order(
      @Nullable String state,
      @JsonProperty("for") @Nullable String lasting,
      @Nullable String url,
      @Nullable String ttl,
      @Nullable JsonNode weight,
      @Nullable String backup) {}

  private Answer change(AdminRequest request, Query query) throws InvalidRequest {
    Order order = Json.content(request, Order.class, EXPECTED);
    return order.ttl == null ? drain(request, order) : register(request, order);
  }

  private Answer drain(AdminRequest request, Order order) throws InvalidRequest {
    String lasting = Objects.requireNonNullElse(order.lasting, "");
    long seconds = 0;
    if (order.equals(new Order("drain", lasting, null, null, null, null))) {
      seconds = Json.value("for", lasting, LASTING).toSeconds();
    } else if (!order.equals(new Order("in", null, null, null, null, null))) {
      throw new InvalidRequest(EXPECTED);
    }
    String upstream = request.parameter("upstream");
    String name = request.parameter("origin");
    List<Origin> all = routes.origins().getOrDefault(upstream, List.of());
    List<Origin> drained = all.stream().filter(origin -> origin.name().equals(name)).toList();
    long now = WallClock.system().nanos();
    if (drained.isEmpty()) {
      return Answer.problem(StatusCode.NOT_FOUND, "There is no such origin.");
    }
    if (seconds == 0) {
      drained.forEach(origin -> origin.health().endDrain());
      LOG.log(Level.INFO, "the drain of {0} of {1} is ended through the API", name, upstream);
    } else if (all.stream().noneMatch(other -> !drained.contains(other) && isAsked(other, now))) {
      return conflict("No other origin of this upstream would get its requests.");
    } else {
      long until = now + TimeUnit.SECONDS.toNanos(seconds);
      drained.forEach(origin -> origin.health().drain(until));
      String said = "{0} of {1} is drained through the API for {2} s";
      LOG.log(Level.INFO, said, name, upstream, seconds);
    }
    return Answer.json(new Changed(upstream, name, seconds));
  }

  private static boolean isAsked(Origin origin, long now) {
    return origin.health().isIn() && origin.health().drainedNanos(now) == 0;
  }

  private Answer register(AdminRequest request, Order order) throws InvalidRequest {
    if (order.state != null || order.lasting != null) {
      throw new InvalidRequest(EXPECTED);
    }
    String weight = order.weight == null ? "1" : order.weight.asString("");
    long seconds = Json.value("ttl", order.ttl, LASTING).toSeconds();
    OriginUrl url = Json.value("url", order.url, OriginSettings.URL.type());
    OriginSettings named =
        new OriginSettings(
            url,
            Json.value("weight", weight, OriginSettings.WEIGHT.type()),
            Json.value(
                "backup",
                Objects.requireNonNullElse(order.backup, "off"),
                OriginSettings.BACKUP.type()));
    String upstream = request.parameter("upstream");
    String origin = request.parameter("origin");
    if (!url.name().equals(origin)) {
      throw new InvalidRequest("url: expected that of " + origin + ", as the path says.");
    }
    return switch (routes.originsByApi().put(upstream, named, seconds)) {
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
    return routes.originsByApi().end(request.parameter("upstream"), request.parameter("origin"))
        ? Answer.nothing()
        : Answer.problem(StatusCode.NOT_FOUND, "The API has added no such origin.");
  }
}
