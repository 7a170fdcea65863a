package io.kamille.core.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MetricDescriptorTest {

  @Test
  void countersAloneEndInTotal() {
    assertThatThrownBy(() -> MetricDescriptor.counter("kamille_requests", ""))
        .hasMessage("name: kamille_requests (expected: _total of counters, and of no others)");
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_requests_total", ""))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aNameSaysItsUnit() {
    assertThat(MetricDescriptor.histogram("kamille_turn_seconds", "").parts()).isEqualTo(1e9);
    assertThat(MetricDescriptor.histogram("kamille_error_ratio", "").parts()).isEqualTo(1e9);
    assertThat(MetricDescriptor.histogram("kamille_buffer_bytes", "").parts()).isEqualTo(1);
  }

  @Test
  void namesAndLabelsAreLowerCaseWords() {
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_Arena", ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> MetricDescriptor.gauge("kamille_arena", "", "a-b"))
        .hasMessage("label: a-b of kamille_arena");
  }
}
