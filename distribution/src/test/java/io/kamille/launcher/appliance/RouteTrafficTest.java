package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class RouteTrafficTest {

  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.1", 40_000);

  private final RouteTraffic traffic = new RouteTraffic();
  private final Exchange exchange =
      new Exchange(
          new EmbeddedChannel().eventLoop(),
          CLIENT,
          CLIENT,
          RequestHead.of("GET", "http://h/a"),
          RequestContent.NONE,
          new RecordingReply());

  private void ended(String route, CacheResult cache, int status, long endNanos) {
    exchange.notes().route(route);
    exchange.notes().cache(cache);
    traffic.ended(exchange, status, 7, 0, endNanos);
  }

  @Test
  void eachRouteHasItsCounts() {
    ended("*/", CacheResult.HIT, 200, 10);
    ended("*/", CacheResult.STALE_HIT, 200, 20);
    ended("*/", CacheResult.MISS, 502, 30);
    ended("*/b", CacheResult.NONE, 200, 40);
    assertThat(traffic.of("*/")).isEqualTo(new RouteTraffic.Counts(3, 2, 1, 30));
    assertThat(traffic.of("*/b")).isEqualTo(new RouteTraffic.Counts(1, 0, 0, 40));
    assertThat(traffic.of("*/c")).isEqualTo(RouteTraffic.Counts.NONE);
  }

  @Test
  void loopsAreAddedUpAndTheLastRequestIsTheLatest() {
    RouteTraffic.Counts one = new RouteTraffic.Counts(1, 1, 0, Long.MAX_VALUE);
    RouteTraffic.Counts later = new RouteTraffic.Counts(2, 0, 2, Long.MIN_VALUE);
    RouteTraffic.Counts both = new RouteTraffic.Counts(3, 1, 2, Long.MIN_VALUE);
    assertThat(one.plus(later)).isEqualTo(both);
    assertThat(later.plus(one)).isEqualTo(both);
    assertThat(RouteTraffic.Counts.NONE.plus(one)).isEqualTo(one);
  }

  @Test
  void routesHaveALimit() {
    for (int i = 0; i < 20_000; i++) {
      ended("*/" + i, CacheResult.NONE, 200, i);
    }
    assertThat(traffic.of("*/0").requests()).isEqualTo(1);
    assertThat(traffic.of("*/19999").requests()).isZero();
  }
}
