package io.kamille.core.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExchangeMetricsTest {

  private final MetricRegistry registry = new MetricRegistry();
  private final ExchangeMetrics metrics = ExchangeMetrics.forLoop(registry);
  private final Exchange exchange = exchange();

  @Test
  void anExchangeIsCountedByStatusClassAndCacheResult() {
    exchange.notes().cache(CacheResult.STALE_HIT);
    metrics.ended(exchange, 304, 0, 0, 0);
    assertThat(sample("kamille_requests_total", "3xx", "stale-hit").value()).isEqualTo(1);
    assertThat(total("kamille_requests_total")).isEqualTo(1);
  }

  @Test
  void aClientThatLeftFirstIsCountedToo() {
    metrics.ended(exchange, 0, 0, 0, 0);
    metrics.ended(exchange, 999, 0, 0, 0);
    assertThat(sample("kamille_requests_total", "none", "none").value()).isEqualTo(2);
  }

  @Test
  void durationsAreToldApartByCacheResult() {
    exchange.notes().cache(CacheResult.HIT);
    metrics.ended(exchange, 200, 0, 1_000, 6_000);
    exchange.notes().cache(CacheResult.MISS);
    metrics.ended(exchange, 200, 0, 0, 70_000);
    assertThat(sample("kamille_request_duration_seconds", "hit").durations().sumNanos())
        .isEqualTo(5_000);
    assertThat(sample("kamille_request_duration_seconds", "miss").durations().sumNanos())
        .isEqualTo(70_000);
  }

  @Test
  void contentAndFailuresAddUpOverLoops() {
    exchange.notes().failure(Failure.of(Failure.ErrorType.CONNECTION_REFUSED, "refused"));
    metrics.ended(exchange, 502, 100, 0, 0);
    ExchangeMetrics.forLoop(registry).ended(exchange, 502, 23, 0, 0);
    assertThat(total("kamille_response_content_bytes_total")).isEqualTo(123);
    assertThat(sample("kamille_request_failures_total", "connection_refused").value()).isEqualTo(2);
  }

  @Test
  void oneObserverAfterTheOther() {
    List<String> told = new ArrayList<>();
    ExchangeObserver first = (e, status, bytes, start, end) -> told.add("first " + status);
    ExchangeObserver second = (e, status, bytes, start, end) -> told.add("second " + status);
    first.and(second).ended(exchange, 200, 0, 0, 0);
    assertThat(told).containsExactly("first 200", "second 200");
  }

  private double total(String name) {
    return samples(name).stream().mapToDouble(Sample::value).sum();
  }

  private Sample sample(String name, String... labelValues) {
    return samples(name).stream()
        .filter(sample -> sample.labelValues().equals(List.of(labelValues)))
        .findFirst()
        .orElseThrow();
  }

  private List<Sample> samples(String name) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .toList();
  }

  private static Exchange exchange() {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
    return new Exchange(
        new EmbeddedChannel().eventLoop(),
        address,
        address,
        RequestHead.of("GET", "http://h/"),
        RequestContent.NONE,
        new RecordingReply());
  }
}
