package io.kamille.core.metric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MetricGroupTest {

  private static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter("kamille_requests_total", "Requests.");
  private static final MetricDescriptor USED =
      MetricDescriptor.gauge("kamille_arena_used_bytes", "Octets in use.");
  private static final MetricDescriptor DURATION =
      MetricDescriptor.histogram("kamille_request_duration_seconds", "From head to end.");

  private final MetricRegistry registry = new MetricRegistry();
  private final MetricGroup group = new MetricGroup(registry);

  @Test
  void whatIsRegisteredIsReadUntilTheGroupIsClosed() {
    group.counter(REQUESTS).add(3);
    group.histogram(DURATION).record(5);
    group.gauge(USED, () -> 7);
    assertThat(registry.parts()).isEqualTo(3);
    assertThat(registry.read())
        .extracting(family -> family.samples().getFirst().value())
        .containsExactly(7.0, 0.0, 3.0);
    group.close();
    assertThat(registry.parts()).isZero();
    assertThat(registry.read()).allMatch(family -> family.samples().isEmpty());
  }

  @Test
  void closingAGroupLeavesWhatOthersRegisteredUnderTheSameName() {
    registry.counter(REQUESTS).add(2);
    group.counter(REQUESTS).add(3);
    group.close();
    assertThat(registry.read().getFirst().samples().getFirst().value()).isEqualTo(2);
  }

  @Test
  void whatIsAskedForAfterTheEndCountsAndIsNotRead() {
    group.close();
    Counter late = group.counter(REQUESTS);
    late.increment();
    group.histogram(DURATION).record(1);
    group.gauge(USED, () -> 7);
    assertThat(late.value()).isEqualTo(1);
    assertThat(registry.parts()).isZero();
  }
}
