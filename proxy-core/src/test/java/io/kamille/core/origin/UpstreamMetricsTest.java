package io.kamille.core.origin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.OriginUrl;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is counted of an upstream while its origins and handlers change. */
class UpstreamMetricsTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final EmbeddedChannel otherChannel = new EmbeddedChannel();
  private final MetricRegistry registry = new MetricRegistry();
  private final Origin a = SETTINGS.origin(new OriginUrl(false, "a", 80), 1);
  private final Origin b = SETTINGS.origin(new OriginUrl(false, "b", 80), 1);
  private final UpstreamMetrics metrics = new UpstreamMetrics(registry, "site", List.of(a, b));

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
    otherChannel.finishAndReleaseAll();
  }

  @Test
  void handlersOfOneLoopCountTogetherAndRegisterNothingAnew() {
    counters(a, b).request(0);
    int parts = registry.parts();
    UpstreamCounters second = counters(b, a);
    second.request(1);
    second.retry();
    assertThat(registry.parts()).isEqualTo(parts);
    assertThat(read(UpstreamMetrics.REQUESTS))
        .containsEntry("a:80", 2.0)
        .containsEntry("b:80", 0.0);
    assertThat(read(UpstreamMetrics.RETRIES)).containsEntry("", 1.0);
  }

  @Test
  void eachLoopHasCountersOfItsOwnThatAddUp() {
    counters(a, b).request(0);
    metrics.counters(otherChannel.eventLoop(), List.of(a, b)).request(0);
    assertThat(read(UpstreamMetrics.REQUESTS)).containsEntry("a:80", 2.0);
  }

  @Test
  void whatWasCountedOfAnOriginThatStaysGoesOnAndThatOfOthersEnds() {
    UpstreamCounters before = counters(a, b);
    before.request(0);
    Origin c = SETTINGS.origin(new OriginUrl(false, "c", 80), 1);
    metrics.origins(List.of(c, a));
    UpstreamCounters after = counters(c, a);
    after.request(1);
    before.request(0);
    before.request(1);
    assertThat(read(UpstreamMetrics.REQUESTS)).isEqualTo(Map.of("a:80", 3.0, "c:80", 0.0));
    assertThat(read(UpstreamMetrics.ORIGIN_IN)).isEqualTo(Map.of("a:80", 1.0, "c:80", 1.0));
  }

  @Test
  void aHandlerThatBeginsOnALoopWhenItsOriginIsGoneCountsForNobody() {
    metrics.origins(List.of(a));
    counters(a, b).request(1);
    assertThat(read(UpstreamMetrics.REQUESTS)).containsOnlyKeys("a:80");
  }

  @Test
  void whatAHandlerCountsOfAnExpectedOriginGoesOnWhenTheUpstreamHasIt() {
    Origin c = SETTINGS.origin(new OriginUrl(false, "c", 80), 1);
    metrics.expect(List.of(a, c));
    UpstreamCounters counters = counters(a, c);
    counters.request(1);
    assertThat(read(UpstreamMetrics.REQUESTS)).containsEntry("c:80", 1.0);
    metrics.origins(List.of(a, c));
    counters.request(1);
    assertThat(read(UpstreamMetrics.REQUESTS)).isEqualTo(Map.of("a:80", 0.0, "c:80", 2.0));
  }

  @Test
  void anOriginThatWasExpectedInVainLeavesNothing() {
    counters(a, b);
    int parts = registry.parts();
    Origin c = SETTINGS.origin(new OriginUrl(false, "c", 80), 1);
    metrics.expect(List.of(a, c));
    counters(a, c).request(1);
    metrics.origins(List.of(a, b));
    counters(a, c).request(1);
    assertThat(registry.parts()).isEqualTo(parts);
    assertThat(read(UpstreamMetrics.REQUESTS)).containsOnlyKeys("a:80", "b:80");
  }

  @Test
  void nothingIsLeftOfAnUpstreamThatIsGone() {
    counters(a, b);
    metrics.close();
    counters(a, b).request(0);
    assertThat(registry.parts()).isZero();
  }

  private UpstreamCounters counters(Origin... origins) {
    return metrics.counters(channel.eventLoop(), List.of(origins));
  }

  /** Values by origin. */
  private Map<String, Double> read(MetricDescriptor descriptor) {
    return registry.read().stream()
        .filter(family -> family.descriptor().equals(descriptor))
        .flatMap(family -> family.samples().stream())
        .collect(Collectors.toMap(UpstreamMetricsTest::origin, Sample::value));
  }

  private static String origin(Sample sample) {
    return sample.labelValues().size() < 2 ? "" : sample.labelValues().getLast();
  }
}
