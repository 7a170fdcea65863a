package io.kamille.core.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class MetricRegistryTest {

  private static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter("kamille_requests_total", "Requests.", "result");
  private static final MetricDescriptor USED =
      MetricDescriptor.gauge("kamille_arena_used_bytes", "Octets in use.");
  private static final MetricDescriptor DURATION =
      MetricDescriptor.histogram("kamille_request_duration_seconds", "From head to end.");

  private final MetricRegistry registry = new MetricRegistry();

  @Test
  void theCountersOfSeveralWritersAddUp() {
    registry.counter(REQUESTS, "hit").add(2);
    registry.counter(REQUESTS, "miss").increment();
    registry.counter(REQUESTS, "hit").increment();
    assertThat(registry.read().getFirst().samples())
        .extracting(MetricFamily.Sample::labelValues, MetricFamily.Sample::value)
        .containsExactly(tuple("hit", 3), tuple("miss", 1));
  }

  @Test
  void theHistogramsOfSeveralWritersAddUp() {
    registry.histogram(DURATION).record(1_000);
    registry.histogram(DURATION).record(2_000);
    Histogram.Snapshot durations = registry.read().getFirst().samples().getFirst().durations();
    assertThat(durations.count()).isEqualTo(2);
    assertThat(durations.sumNanos()).isEqualTo(3_000);
  }

  @Test
  void aClosedRegistrationIsAskedNoMore() {
    Registration first = registry.gauge(USED, () -> 5);
    Registration second = registry.gauge(USED, () -> 7);
    assertThat(value()).isEqualTo(12);
    first.close();
    assertThat(value()).isEqualTo(7);
    second.close();
    assertThat(registry.read().getFirst().samples()).isEmpty();
  }

  @Test
  void aCountKeptElsewhereIsExported() {
    registry.counting(REQUESTS, () -> 9, "hit");
    assertThat(value()).isEqualTo(9);
  }

  @Test
  void familiesAreOrderedByName() {
    registry.counter(REQUESTS, "hit");
    registry.gauge(USED, () -> 0);
    assertThat(registry.read())
        .extracting(MetricFamily::descriptor)
        .containsExactly(USED, REQUESTS);
  }

  @Test
  void oneNameHasOneDescriptor() {
    registry.counter(REQUESTS, "hit");
    MetricDescriptor other =
        MetricDescriptor.counter("kamille_requests_total", "Others.", "result");
    assertThatThrownBy(() -> registry.counter(other, "hit"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void eachLabelNeedsAValue() {
    assertThatThrownBy(() -> registry.counter(REQUESTS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kamille_requests_total: [] (expected: one value for each of [result])");
  }

  @Test
  void aCounterIsNoGauge() {
    assertThatThrownBy(() -> registry.gauge(REQUESTS, () -> 0, "hit"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kamille_requests_total: COUNTER (expected: GAUGE)");
  }

  @Test
  void labelSetsAreBounded() {
    for (int i = 0; i < 20_000; i++) {
      registry.counter(REQUESTS, "result-" + i);
    }
    registry.counter(REQUESTS, "result-0");
    assertThatThrownBy(() -> registry.counter(REQUESTS, "one-more"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("at most 20000 label sets");
  }

  private double value() {
    return registry.read().getFirst().samples().getFirst().value();
  }

  private static org.assertj.core.groups.Tuple tuple(String label, double value) {
    return org.assertj.core.groups.Tuple.tuple(List.of(label), value);
  }
}
