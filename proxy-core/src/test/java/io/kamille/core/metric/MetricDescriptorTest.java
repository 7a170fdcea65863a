package io.kamille.core.metric;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.metric.MetricDescriptor.Unit;
import org.junit.jupiter.api.Test;

class MetricDescriptorTest {

  @Test
  void aCounterEndsInTotal() {
    assertThatThrownBy(() -> MetricDescriptor.counter("kamille_requests", Unit.COUNT, ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("name: kamille_requests (expected: kamille_<words>_total)");
  }

  @Test
  void aNameSaysItsUnit() {
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_arena_used", Unit.BYTES, ""))
        .hasMessage("name: kamille_arena_used (expected: kamille_<words>_bytes)");
    assertThatThrownBy(() -> MetricDescriptor.counter("kamille_sent_total", Unit.BYTES, ""))
        .hasMessage("name: kamille_sent_total (expected: kamille_<words>_bytes_total)");
  }

  @Test
  void namesAndLabelsAreLowerCaseWords() {
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_Arena", Unit.COUNT, ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_arena", Unit.COUNT, "", "a-b"))
        .hasMessage("label: a-b of kamille_arena");
  }
}
