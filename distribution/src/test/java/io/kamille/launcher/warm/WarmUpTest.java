package io.kamille.launcher.warm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.Await;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which requests a warm-up sends, and what becomes of it when nobody answers. */
class WarmUpTest {

  private final EventLoop loop = new DefaultEventLoop();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private ExchangeHandler entrance = this::answer;

  private final WarmUp warmUp =
      new WarmUp(
          new WarmUp.Source() {
            @Override
            public Explanation explain(RequestHead request, InetAddress client) {
              Decision decision =
                  switch (request.authority()) {
                    case "elsewhere" -> Decision.REFUSE;
                    case "private" -> Decision.PASS;
                    default -> asked.contains(request.target()) ? Decision.SERVE : Decision.FORWARD;
                  };
              return new Explanation(
                  decision,
                  null,
                  null,
                  List.of(
                      new Reason("rule", "RFC 9111", "found", "so"),
                      new Reason("coding", "RFC 9110", "no Accept-Encoding", "as it comes")));
            }

            @Override
            public ExchangeHandler entrance() {
              return exchange -> entrance.handle(exchange);
            }

            @Override
            public List<EventLoop> loops() {
              return List.of(loop);
            }

            @Override
            public Map<String, Long> hottest() {
              return Map.of("http://h/hot", 9L, "http://h/warm", 3L);
            }

            @Override
            public @Nullable List<PurgedUrl> removedBy(long purge) {
              return null;
            }

            @Override
            public List<SelectingFields> variants(String url) {
              return List.of();
            }
          });

  private void answer(Exchange exchange) {
    asked.add(exchange.request().target());
    exchange.reply().head(ResponseHead.of(200), 0);
    exchange.reply().end(null);
  }

  @AfterEach
  void close() {
    warmUp.close();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private static WarmOrder order(String... urls) {
    return new WarmOrder(List.of(urls), null, null, 1000, 2);
  }

  private WarmProgress awaitDone() {
    Await.until(() -> warmUp.progress().state().equals("done"), "the warm-up is done");
    return warmUp.progress();
  }

  @Test
  void theHottestComeFirstAndEachOnce() {
    assertThat(
            warmUp.start(order("http://h/cold", "http://h/warm", "http://h/hot", "http://h/cold")))
        .isTrue();
    assertThat(awaitDone().stored()).isEqualTo(3);
    assertThat(asked).containsExactly("/hot", "/warm", "/cold");
  }

  @Test
  void whatNoRouteWouldStoreIsNeverSent() {
    warmUp.start(order("http://elsewhere/", "http://private/", "ftp://h/", "http://h/\u00e9"));
    assertThat(awaitDone().skipped()).isEqualTo(4);
    assertThat(asked).isEmpty();
    assertThat(warmUp.progress().troubles())
        .extracting(WarmProgress.Trouble::why)
        .contains("found: so", "no request can have this URL");
  }

  @Test
  void aSitemapIsFetchedUnderTheRuleOfItsUrls() {
    warmUp.start(new WarmOrder(List.of(), "http://private/map.xml", null, 1000, 2));
    assertThat(awaitDone().failed()).isEqualTo(1);
    assertThat(asked).isEmpty();
    assertThat(warmUp.progress().troubles())
        .extracting(WarmProgress.Trouble::why)
        .containsExactly("the sitemap: found: so");
  }

  @Test
  void whoeverNeverAnswersHoldsUpOneWarmUpAndNoOther() {
    entrance = exchange -> asked.add(exchange.request().target());
    warmUp.start(order("http://h/1", "http://h/2", "http://h/3"));
    Await.until(() -> asked.size() == 2, "as many as may be are under way");
    assertThat(warmUp.start(order("http://h/4"))).isFalse();
    warmUp.stop();
    assertThat(warmUp.progress().state()).isEqualTo("stopped");
    entrance = this::answer;
    assertThat(warmUp.start(order("http://h/4"))).isTrue();
    assertThat(awaitDone().done()).isEqualTo(1);
    assertThat(asked).containsExactly("/1", "/2", "/4");
  }

  @Test
  void failuresAreToldWithTheirReason() {
    entrance =
        exchange -> {
          if (exchange.request().target().equals("/bug")) {
            throw new IllegalStateException("a bug");
          }
          exchange.reply().fail(Failure.of(Failure.Kind.CONNECTION_REFUSED, "refused"));
        };
    warmUp.start(order("http://h/hot", "http://h/bug"));
    assertThat(awaitDone().failed()).isEqualTo(2);
    assertThat(warmUp.progress().troubles())
        .extracting(WarmProgress.Trouble::why)
        .containsExactly("connection_refused: refused", "a fault in the proxy");
  }
}
