package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestSamplerTest {

  private static final long SECOND = 1_000_000_000L;

  private final RequestSampler sampler = new RequestSampler(2, 3, ManualClock.at(1_000_000));

  private void end(String uri, int status, long endNanos) {
    Exchange exchange = Exchanges.of(RequestHead.of("GET", "http://h" + uri));
    exchange.notes().cache(CacheResult.MISS);
    exchange.notes().route("*/");
    sampler.ended(exchange, status, 7, endNanos - 5_000_000, endNanos);
  }

  private List<RequestSample> samples() {
    return sampler.samples().stream()
        .sorted(Comparator.comparingLong(RequestSample::number))
        .toList();
  }

  @Test
  void aSampleTellsWhatBecameOfItsRequest() {
    end("/a?b=1", 200, SECOND);
    assertThat(samples())
        .containsExactly(
            new RequestSample(
                2,
                1,
                999_995,
                5_000_000,
                "GET",
                "http://h/a",
                "b=1",
                200,
                7,
                "miss",
                "",
                "*/",
                "",
                "192.0.2.1",
                ""));
  }

  @Test
  void soManyASecondAreKeptAndFailuresBesideThem() {
    for (int i = 0; i < 10; i++) {
      end("/ok", 200, SECOND + i);
      end("/failed", 503, SECOND + i);
    }
    assertThat(samples()).hasSize(6);
    assertThat(samples()).filteredOn(sample -> sample.status() == 503).hasSize(3);
    end("/ok", 200, 2 * SECOND);
    assertThat(samples()).hasSize(7);
  }

  @Test
  void theOldestMakeRoomAndLongTextsAreCut() {
    for (int i = 0; i < RequestSampler.KEPT + 5; i++) {
      end("/" + "x".repeat(2_000), 200, SECOND * i);
    }
    assertThat(samples()).hasSize(RequestSampler.KEPT);
    assertThat(samples().getFirst().number()).isEqualTo(6);
    assertThat(samples().getFirst().url()).hasSize(513).endsWith("…");
  }
}
