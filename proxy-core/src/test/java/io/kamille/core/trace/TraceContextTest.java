package io.kamille.core.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** W3C Trace Context §3.2. */
class TraceContextTest {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";
  private static final String VALID = "00-" + TRACE + "-" + SPAN + "-01";

  @Test
  void aFieldHasTraceSpanAndFlags() {
    assertThat(TraceContext.parse(VALID)).isEqualTo(new TraceContext(TRACE, SPAN, true));
    assertThat(TraceContext.parse("00-" + TRACE + "-" + SPAN + "-fe"))
        .isEqualTo(new TraceContext(TRACE, SPAN, false));
    assertThat(new TraceContext(TRACE, SPAN, true).text()).isEqualTo(VALID);
  }

  @Test
  void aLaterVersionMayHaveMoreParts() {
    assertThat(TraceContext.parse("cc" + VALID.substring(2) + "-what-will-be")).isNotNull();
    assertThat(TraceContext.parse("cc" + VALID.substring(2) + ".what-will-be")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-011",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
      })
  void whatIsNotValidSaysNothing(String text) {
    assertThat(TraceContext.parse(text)).isNull();
  }

  @Test
  void twoFieldsSayNothing() {
    assertThat(TraceContext.of(Fields.of("traceparent", VALID))).isNotNull();
    assertThat(TraceContext.of(Fields.of("traceparent", VALID, "Traceparent", VALID))).isNull();
    assertThat(TraceContext.of(Fields.of("tracestate", VALID))).isNull();
  }
}
