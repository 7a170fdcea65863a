package io.kamille.launcher.warm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.Await;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests a warm-up sends, and what it tells of them. */
class WarmUpTest {

  private final EventLoop loop = new DefaultEventLoop();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private ExchangeHandler entrance = this::answer;
  private List<SelectingFields> variants = List.of();

  private final WarmSource source =
      new WarmSource(
          (request, _) -> explanation(request),
          exchange -> entrance.handle(exchange),
          List.of(loop),
          () -> Map.of("http://h/hot", 9L, "http://h/warm", 3L),
          WarmUpTest::removedBy,
          _ -> variants);
  private WarmUp warmUp = new WarmUp(source);

  private void answer(Exchange exchange) {
    asked.add(exchange.request().target());
    exchange.reply().head(ResponseHead.of(200), 0);
    exchange.reply().end(null);
  }

  private Explanation explanation(RequestHead request) {
    Decision decision =
        switch (request.authority()) {
          case "elsewhere" -> Decision.REFUSE;
          case "private" -> Decision.PASS;
          case "fresh" -> Decision.SERVE;
          default -> asked.contains(request.target()) ? Decision.SERVE : Decision.FORWARD;
        };
    Reason rule = new Reason("rule", "RFC 9111", "found", "so");
    Reason coding = new Reason("coding", "RFC 9110", "no Accept-Encoding", "as it comes");
    return new Explanation(decision, null, null, List.of(rule, coding), rule, 0, null);
  }

  private static @Nullable List<PurgedUrl> removedBy(long purge) {
    return purge == 812
        ? List.of(
            new PurgedUrl("http://h/2", 2, SelectingFields.NONE),
            new PurgedUrl("http://h/1", 1, SelectingFields.NONE))
        : null;
  }

  @AfterEach
  void close() {
    warmUp.close();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private boolean warm(String... urls) {
    return warmUp.urls(List.of(urls), 1000);
  }

  private WarmProgress progress() {
    return warmUp.progress(url -> url);
  }

  private WarmProgress awaitDone() {
    Await.until(() -> progress().state().equals("done"), "the warm-up is done");
    return progress();
  }

  @Test
  void theHottestComeFirstAndEachOnce() {
    assertThat(warm("http://h/cold", "http://h/warm", "http://h/hot", "http://h/cold")).isTrue();
    assertThat(awaitDone().stored()).isEqualTo(3);
    assertThat(asked).containsExactly("/hot", "/warm", "/cold");
  }

  @Test
  void whatNoRouteWouldStoreIsNeverSent() {
    warm("http://elsewhere/", "http://private/", "ftp://h/", "http://h/\u00e9");
    assertThat(awaitDone().skipped()).isEqualTo(4);
    assertThat(asked).isEmpty();
    assertThat(progress().troubles())
        .extracting(WarmProgress.Trouble::why)
        .contains("found: so", "no request can have this URL");
  }

  @Test
  void whatAPurgeRemovedComesInItsOrder() {
    assertThat(warmUp.removedBy(813)).isNull();
    assertThat(warmUp.purged(812, Objects.requireNonNull(warmUp.removedBy(812)), 1000)).isTrue();
    assertThat(awaitDone().stored()).isEqualTo(2);
    assertThat(asked).containsExactly("/2", "/1");
  }

  @Test
  void whatIsFreshIsNotAskedForAgain() {
    warm("http://h/1");
    awaitDone();
    warm("http://h/1");
    assertThat(awaitDone().fresh()).isEqualTo(1);
    assertThat(asked).containsExactly("/1");
  }

  @Test
  void requestsAreFewAtATimeAndOneWarmUpRunsAtATime() {
    entrance = exchange -> asked.add(exchange.request().target());
    warm("http://h/1", "http://h/2", "http://h/3", "http://h/4", "http://h/5");
    Await.until(() -> asked.size() == 4, "as many as may be are under way");
    assertThat(warm("http://h/6")).isFalse();
    warmUp.close();
    awaitDone();
    assertThat(asked).containsExactly("/1", "/2", "/3", "/4");
  }

  @Test
  void failuresAreToldWithTheirReason() {
    entrance =
        exchange -> {
          if (exchange.request().target().equals("/bug")) {
            throw new IllegalStateException("a bug");
          }
          exchange.reply().fail(Failure.of(Failure.ErrorType.CONNECTION_REFUSED, "refused"));
        };
    warm("http://h/hot", "http://h/bug");
    assertThat(awaitDone().failed()).isEqualTo(2);
    assertThat(progress().troubles())
        .extracting(WarmProgress.Trouble::why)
        .containsExactly("connection_refused: refused", "a fault in the proxy");
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 21, 500})
  void ofFailuresTheFirstTwentyAreTold(int failures) {
    entrance =
        exchange ->
            exchange.reply().fail(Failure.of(Failure.ErrorType.CONNECTION_REFUSED, "refused"));
    warm(IntStream.range(0, failures).mapToObj(i -> "http://h/" + i).toArray(String[]::new));
    assertThat(awaitDone().failed()).isEqualTo(failures);
    assertThat(progress().troubles()).hasSize(20);
    // Four at a time.
    assertThat(progress().troubles().getFirst().url()).matches("http://h/[0-3]");
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 17, 500})
  void ofTheVariantsOfAUrlSixteenAreFetched(int known) {
    AtomicInteger requests = new AtomicInteger();
    entrance =
        exchange -> {
          requests.incrementAndGet();
          exchange.reply().head(ResponseHead.of(200), 0);
          exchange.reply().end(null);
        };
    variants = Collections.nCopies(known, SelectingFields.NONE);
    warm("http://h/a", "http://h/b");
    awaitDone();
    assertThat(requests.get()).isEqualTo(2 * 16);
  }

  /** All wait on one loop, so the others are over before the first one is given up. */
  @Test
  void aResponseThatNeverEndsIsGivenUpAndTheOthersCount() {
    warmUp = new WarmUp(source, 0);
    entrance =
        exchange -> {
          if (exchange.request().target().equals("/hot")) {
            exchange.reply().head(ResponseHead.of(200), 2);
            exchange.reply().write(Unpooled.copiedBuffer("x", UTF_8));
          } else {
            answer(exchange);
          }
        };
    warm("http://h/hot", "http://h/1", "http://h/2");
    assertThat(awaitDone().stored()).isEqualTo(2);
    assertThat(progress().failed()).isEqualTo(1);
    assertThat(progress().troubles())
        .containsExactly(new WarmProgress.Trouble("http://h/hot", "no whole response in 0 s"));
    assertThat(warm("http://h/1")).as("the next one").isTrue();
  }
}
