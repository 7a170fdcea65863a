package io.kamille.core.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.exchange.Trace;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.setting.Sections;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is recorded, what is not, and what the origin is told of it. */
class LoopTracerTest {

  private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-";

  private final ManualClock clock = ManualClock.at(1_000_000);
  private final Tracing tracing = new Tracing(TraceSettings.OFF, clock);
  private final LoopTracer tracer =
      tracing.forLoop(exchange -> exchange.notes().mark(TraceStep.ROUTE, "*/"));

  private void settings(double ratio, int perSecond, String trust) {
    tracing.settings(
        Sections.copy(Sections.of(TraceSettings.SECTION, "{ratio: %s, trust: [%s]}", ratio, trust))
            .with("perSecond", perSecond)
            .record());
  }

  private Exchange exchange(String uri, String... fields) {
    InetSocketAddress address = new InetSocketAddress("192.0.2.1", 40_000);
    Exchange exchange =
        new Exchange(
            new EmbeddedChannel().eventLoop(),
            address,
            address,
            RequestHead.of("GET", uri, fields),
            RequestContent.NONE,
            new RecordingReply());
    tracer.handle(exchange);
    tracer.ended(exchange, 200, 7, clock.nanos() - 1_000, clock.nanos());
    return exchange;
  }

  private static @Nullable String parent(Exchange exchange) {
    List<String> lines = exchange.request().fields().all("traceparent");
    assertThat(lines).hasSizeLessThan(2);
    return lines.isEmpty() ? null : lines.getFirst();
  }

  private static Trace recorded(Exchange exchange) {
    return Objects.requireNonNull(exchange.notes().trace());
  }

  @Test
  void nothingIsRecordedUnlessItIsWantedAndFieldsStayAsTheyCame() {
    Exchange exchange = exchange("http://h/", "traceparent", "anything", "tracestate", "a=b");
    assertThat(exchange.notes().trace()).isNull();
    assertThat(parent(exchange)).isEqualTo("anything");
    assertThat(exchange.request().fields().all("tracestate")).containsExactly("a=b");
    assertThat(tracing.traces()).isEmpty();
  }

  @Test
  void whatIsRecordedBeginsATraceOfOursThatTheOriginCanGoOnWith() {
    settings(1, 10, "");
    Exchange exchange = exchange("http://h/a", "traceparent", PARENT + "01", "tracestate", "a=b");
    Trace.Ids ids = recorded(exchange).ids();
    assertThat(recorded(exchange).cause()).isEqualTo(Trace.Cause.RATIO);
    assertThat(ids.trace()).matches("[0-9a-f]{32}").isNotEqualTo(PARENT.substring(3, 35));
    assertThat(ids.parent()).isEmpty();
    assertThat(parent(exchange)).isEqualTo("00-" + ids.trace() + "-" + ids.origin() + "-01");
    assertThat(exchange.request().fields().all("tracestate")).isEmpty();
    RequestTrace trace = tracing.traces().getFirst();
    assertThat(trace.request().url()).isEqualTo("http://h/a");
    assertThat(trace.request().trace()).isEqualTo(ids.trace());
    assertThat(trace.steps()).extracting(Trace.Mark::step).containsExactly(TraceStep.ROUTE);
  }

  @Test
  void aTrustedClientDecidesForItsRequests() {
    settings(1, 10, "192.0.2.0/24");
    Exchange sampled = exchange("http://h/", "traceparent", PARENT + "01", "tracestate", "a=b");
    assertThat(recorded(sampled).cause()).isEqualTo(Trace.Cause.PARENT);
    assertThat(recorded(sampled).ids().trace()).isEqualTo(PARENT.substring(3, 35));
    assertThat(recorded(sampled).ids().parent()).isEqualTo(PARENT.substring(36, 52));
    assertThat(sampled.request().fields().all("tracestate")).containsExactly("a=b");
    Exchange unsampled = exchange("http://h/", "traceparent", PARENT + "00");
    assertThat(unsampled.notes().trace()).isNull();
    assertThat(parent(unsampled)).isEqualTo(PARENT + "00");
  }

  @Test
  void soManyASecondAreRecordedAndNoMore() {
    settings(1, 3, "");
    for (int i = 0; i < 10; i++) {
      exchange("http://h/");
    }
    assertThat(tracing.traces()).hasSize(3);
    clock.advance(Duration.ofSeconds(1));
    exchange("http://h/");
    assertThat(tracing.traces()).hasSize(4);
  }

  @Test
  void anOrderIsForTheNextRequestsOfItsKind() {
    tracing.order("H:8080", "/a", 2, Duration.ofMinutes(1).toNanos());
    assertThat(exchange("http://h:8080/b").notes().trace()).isNull();
    assertThat(exchange("http://other/a").notes().trace()).isNull();
    assertThat(recorded(exchange("http://h:8080/a?b")).cause()).isEqualTo(Trace.Cause.ASKED);
    assertThat(exchange("http://H:8080/abc").notes().trace()).isNotNull();
    assertThat(exchange("http://h:8080/a").notes().trace()).isNull();
    assertThat(tracing.order()).isNull();
  }

  @Test
  void anOrderEndsWithItsTime() {
    tracing.order(null, "/", 20, Duration.ofMinutes(1).toNanos());
    assertThat(tracing.order()).isNotNull();
    clock.advance(Duration.ofMinutes(1));
    assertThat(exchange("http://h/").notes().trace()).isNull();
    assertThat(tracing.order()).isNull();
    tracing.order(null, "/", 20, Duration.ofMinutes(1).toNanos());
    tracing.cancelOrder();
    assertThat(exchange("http://h/").notes().trace()).isNull();
  }

  @Test
  void theOldestMakeRoomAndStepsHaveALimit() {
    settings(1, 1_000, "");
    for (int i = 0; i < LoopTracer.KEPT + 5; i++) {
      exchange("http://h/");
    }
    assertThat(tracing.traces()).hasSize(LoopTracer.KEPT);
    assertThat(tracer.newest()).isEqualTo(LoopTracer.KEPT + 5);
    assertThat(tracer.after(LoopTracer.KEPT)).hasSize(5);
    Trace trace = recorded(exchange("http://h/"));
    for (int i = 0; i < 1_000; i++) {
      trace.mark(TraceStep.ORIGIN, "again");
    }
    assertThat(trace.marks()).hasSize(64);
  }
}
