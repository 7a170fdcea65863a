package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.CheckSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.ListSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginState;
import io.kamille.core.metric.HistogramSnapshot;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.names.OriginList.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/upstreams}: the upstreams, their origins, and how they answer. */
final class UpstreamList implements Resource {

  private static final double NANOS_PER_MILLI = 1e6;

  private final ApplianceView appliance;
  private final MetricRegistry registry;

  UpstreamList(ApplianceView appliance, MetricRegistry registry) {
    this.appliance = appliance;
    this.registry = registry;
  }

  @Override
  public Operation operation() {
    return Operation.get(
            "/v1/upstreams", Scope.READ, "The upstreams, their origins, and how they answer.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    MetricFamily requests = registry.read(UpstreamMetrics.REQUESTS);
    MetricFamily failures = registry.read(UpstreamMetrics.FAILURES);
    MetricFamily retries = registry.read(UpstreamMetrics.RETRIES);
    MetricFamily heads = registry.read(UpstreamMetrics.HEAD_TIME);
    return Answer.json(
        new Document(
            appliance.upstreams().stream()
                .map(
                    upstream -> {
                      String name = upstream.name();
                      return new Row(
                          name,
                          sum(requests, name),
                          sum(failures, name),
                          sum(retries, name),
                          Head.of(durations(heads, name)),
                          origins(upstream, requests),
                          upstream.lists());
                    })
                .toList()));
  }

  private static List<OriginRow> origins(UpstreamSnapshot upstream, MetricFamily requests) {
    return upstream.origins().stream()
        .map(
            (OriginSnapshot origin) ->
                new OriginRow(
                    origin.name(),
                    origin.from(),
                    origin.until(),
                    origin.state(),
                    origin.inFlight(),
                    origin.limit(),
                    origin.failures(),
                    origin.since(),
                    origin.why(),
                    origin.drainedUntil(),
                    origin.check(),
                    sum(requests, upstream.name(), origin.name())))
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

  private static HistogramSnapshot durations(MetricFamily family, String upstream) {
    return family.samples().stream()
        .filter(sample -> sample.labelValues().getFirst().equals(upstream))
        .map(MetricFamily.Sample::durations)
        .reduce(HistogramSnapshot.EMPTY, HistogramSnapshot::plus);
  }

  private record Document(List<Row> upstreams) {}

  private record Row(
      String name,
      long requests,
      long failures,
      long retries,
      Head head,
      List<OriginRow> origins,
      List<ListSnapshot> lists) {}

  private record Head(double p50Millis, double p99Millis) {
    static Head of(HistogramSnapshot durations) {
      return new Head(
          durations.quantileNanos(0.5) / NANOS_PER_MILLI,
          durations.quantileNanos(0.99) / NANOS_PER_MILLI);
    }
  }

  private record OriginRow(
      String name,
      Kind from,
      @Nullable String until,
      OriginState state,
      long inFlight,
      long limit,
      long failures,
      @Nullable String since,
      String why,
      @Nullable String drainedUntil,
      @Nullable CheckSnapshot check,
      long requests) {}
}
