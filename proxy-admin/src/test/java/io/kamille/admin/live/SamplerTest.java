package io.kamille.admin.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.tiers.Store;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.client.open.ConnectionMetrics;
import io.kamille.core.exchange.ExchangeMetrics;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.UpstreamMetrics;
import org.junit.jupiter.api.Test;

class SamplerTest {

  private final MetricRegistry registry = new MetricRegistry();
  private final Sampler sampler = new Sampler(registry);

  @Test
  void aPointHasWhatWasCountedInItsSecond() {
    registry.gauge(ConnectionMetrics.CONNECTIONS, () -> 3, "a");
    registry.gauge(ConnectionMetrics.CONNECTIONS, () -> 4, "b");
    registry.gauge(Store.USED, () -> 4096);
    assertThat(Figure.named(sampler.sample(10)))
        .containsEntry("requestsPerSecond", 0.0)
        .containsEntry("connections", 7.0)
        .containsEntry("memoryBytes", 4096.0);
    registry.counter(ExchangeMetrics.REQUESTS, "2xx", "hit").add(6);
    registry.counter(ExchangeMetrics.REQUESTS, "2xx", "stale-hit").add(2);
    registry.counter(ExchangeMetrics.REQUESTS, "5xx", "miss").add(4);
    registry.counter(UpstreamMetrics.FAILURES, "site", "connection_refused").add(2);
    registry.counter(UpstreamMetrics.FAILURES, Peers.UPSTREAM, "connection_refused").add(8);
    registry.counting(LoopGroup.CPU, () -> 0.5, "kamille-loop-1");
    registry.histogram(ExchangeMetrics.DURATION, "hit").record(1_000_000);
    registry.histogram(ExchangeMetrics.DURATION, "miss").record(50_000_000);
    assertThat(Figure.named(sampler.sample(12)))
        .containsEntry("requestsPerSecond", 6.0)
        .containsEntry("hitsPerSecond", 4.0)
        .containsEntry("failuresPerSecond", 1.0)
        .containsEntry("processors", 0.25)
        .hasEntrySatisfying("hitP99Millis", millis -> assertThat(millis).isBetween(1.0, 1.1))
        .hasEntrySatisfying("missP99Millis", millis -> assertThat(millis).isBetween(50.0, 55.0));
    assertThat(Figure.named(sampler.sample(13)))
        .containsEntry("requestsPerSecond", 0.0)
        .containsEntry("hitP99Millis", 0.0);
  }
}
