package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.Topics;
import io.kamille.core.log.LoopTop.Ranking;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoopTopTest {

  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final LoopTop top = new LoopTop(AddressMask.FULL);

  private static Exchange exchange(String url) {
    return Exchanges.of(RequestHead.of("GET", url));
  }

  private static Map<String, Long> counts(LoopTop top, Ranking kind) {
    Map<String, Long> counts = new HashMap<>();
    top.addTo(counts, kind);
    return counts;
  }

  @Test
  void fewRequestsAreAllCounted() {
    Exchange miss = exchange("https://h/b?c");
    miss.notes().cache(CacheResult.MISS);
    for (int i = 0; i < 3; i++) {
      top.ended(exchange("http://h/a"), 200, 0, 0, i * SECOND);
    }
    top.ended(miss, 200, 0, 0, 4 * SECOND);
    assertThat(counts(top, Ranking.URLS))
        .containsOnly(Map.entry("http://h/a", 3L), Map.entry("https://h/b?c", 1L));
    assertThat(counts(top, Ranking.MISSES)).containsOnly(Map.entry("https://h/b?c", 1L));
    assertThat(counts(top, Ranking.CLIENTS)).containsExactly(Map.entry("\u00c0\0\2\1", 4L));
  }

  @Test
  void manyRequestsAreCountedBySamplesThatStandForAll() {
    Exchange often = exchange("http://h/often");
    Exchange seldom = exchange("http://h/seldom");
    for (int i = 0; i < 500_000; i++) {
      top.ended(i % 10 == 0 ? seldom : often, 200, 0, 0, i * SECOND / 100_000);
    }
    Map<String, Long> counts = counts(top, Ranking.URLS);
    assertThat(counts.get("http://h/often")).isBetween(350_000L, 550_000L);
    assertThat(counts.get("http://h/seldom")).isBetween(25_000L, 75_000L);
  }

  @Test
  void whatComesOftenKeepsItsPlaceAmongManyThatComeOnce() {
    TopKeys keys = new TopKeys();
    for (int i = 0; i < 20_000; i++) {
      byte[] key = (i % 10 == 0 ? "often" : "once" + i).getBytes(StandardCharsets.US_ASCII);
      keys.add(key, key.length, 1);
    }
    Map<String, Long> counts = new HashMap<>();
    keys.forEach((key, count) -> counts.put(new String(key, StandardCharsets.US_ASCII), count));
    assertThat(counts).hasSize(TopKeys.PLACES);
    assertThat(counts.get("often")).isBetween(2_000L, 2_000L + 20_000 / TopKeys.PLACES);
    assertThat(counts.values()).allMatch(count -> count <= 2_000L + 20_000 / TopKeys.PLACES);
  }

  @Test
  void oldRequestsWeighLess() {
    for (int i = 0; i < 8; i++) {
      top.ended(exchange("http://h/old"), 200, 0, 0, 0);
    }
    top.ended(exchange("http://h/new"), 200, 0, 0, Duration.ofMinutes(20).toNanos());
    assertThat(counts(top, Ranking.URLS))
        .containsOnly(Map.entry("http://h/old", 2L), Map.entry("http://h/new", 1L));
  }

  @Test
  void maskedClientsAreCountedByTheirNetwork() {
    LoopTop masked = new LoopTop(AddressMask.MASKED);
    RequestHead head = RequestHead.of("GET", "http://h/");
    masked.ended(Exchanges.from("192.0.2.1", head), 200, 0, 0, 0);
    masked.ended(Exchanges.from("192.0.2.77", head), 200, 0, 0, 0);
    assertThat(counts(masked, Ranking.CLIENTS)).containsExactly(Map.entry("\u00c0\0\2\0", 2L));
  }

  @Test
  void targetsThatAreTooLongAreNotCounted() {
    top.ended(exchange("http://h/" + "a".repeat(TopKeys.LENGTH_LIMIT)), 200, 0, 0, 0);
    top.ended(Exchanges.of(new RequestHead()), 400, 0, 0, 0);
    assertThat(counts(top, Ranking.URLS)).isEmpty();
  }

  @Test
  void ofVeryManyTagsSomeStandForAll() {
    Exchange exchange = exchange("http://h/");
    exchange
        .notes()
        .topics(
            new Topics() {
              @Override
              public int size() {
                return 1024;
              }

              @Override
              public long at(int index) {
                return index;
              }
            });
    top.ended(exchange, 200, 0, 0, 0);
    Map<String, Long> counts = counts(top, Ranking.TAGS);
    assertThat(counts).hasSize(32);
    assertThat(counts.values()).allMatch(count -> count == 32);
  }

  @Test
  void aKnownKeyCostsNoMemory() {
    TopKeys keys = new TopKeys();
    byte[] key = "http://h/".getBytes(StandardCharsets.US_ASCII);
    keys.add(key, key.length, 1);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 10_000; i++) {
      keys.add(key, key.length, 1);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }
}
