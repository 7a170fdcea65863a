package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.core.loop.ManualClock;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What other amounts of memory would hit. */
class WhatIfTest {

  private static final int MAXIMUM = 1000;

  private final ManualClock clock = ManualClock.atSeconds(100);
  private final PolicyJudge judge = new PolicyJudge(PolicyChoice.LRU, MAXIMUM, MAXIMUM, clock);
  private final SplittableRandom random = new SplittableRandom(5);

  private Forecast forecast() {
    return Objects.requireNonNull(judge.forecast());
  }

  private double ratio(Forecast forecast, Policy policy, double factor) {
    return forecast.estimates().stream()
        .filter(each -> each.policy() == policy && each.factor() == factor)
        .mapToDouble(Forecast.Estimate::objectHitRatio)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void nobodyIsToldWhatNobodyAsked() {
    judge.hear(Event.FOUND, 1, 1);
    assertThat(judge.forecast()).isNull();
  }

  /** Two thousand objects, asked for equally often: memory for so many holds that share of them. */
  @Test
  void lruHitsTheShareThatFits() {
    judge.watch(600);
    for (int i = 0; i < 200_000; i++) {
      judge.hear(Event.FOUND, random.nextInt(2 * MAXIMUM), 1);
    }
    Forecast forecast = forecast();
    assertThat(forecast.isOpen()).isTrue();
    assertThat(forecast.sampledShare()).isEqualTo(1);
    assertThat(ratio(forecast, Policy.LRU, 0.25)).isBetween(0.11, 0.14);
    assertThat(ratio(forecast, Policy.LRU, 0.5)).isBetween(0.23, 0.27);
    assertThat(ratio(forecast, Policy.LRU, 1)).isBetween(0.47, 0.53);
    assertThat(ratio(forecast, Policy.LRU, 2)).isBetween(0.97, 1.0);
    assertThat(ratio(forecast, Policy.LRU, 4)).isEqualTo(ratio(forecast, Policy.LRU, 2));
    assertThat(forecast.estimates()).hasSize(10).allMatch(each -> each.requests() == 200_000);
    assertThat(forecast.estimates())
        .allMatch(each -> each.error() < 0.002 && each.filled() > 0.49 && each.filled() <= 1);
  }

  @Test
  void whatIsNotFoundCountsOnceItIsStored() {
    judge.watch(600);
    judge.hear(Event.MISSED, 1, 0);
    assertThat(forecast().estimates()).allMatch(each -> each.requests() == 0);
    judge.hear(Event.STORED, 1, 10);
    judge.hear(Event.MISSED, 1, 0);
    assertThat(forecast().estimates())
        .allMatch(each -> each.requests() == 2 && each.objectHitRatio() == 0.5);
    judge.hear(Event.REMOVED, 1, 0);
    judge.hear(Event.MISSED, 1, 0);
    assertThat(forecast().estimates()).allMatch(each -> each.requests() == 2);
  }

  @Test
  void watchingEndsWithItsTimeAndTheCountStays() {
    judge.watch(60);
    judge.hear(Event.FOUND, 1, 1);
    clock.advance(Duration.ofSeconds(60));
    judge.hear(new RequestSamples());
    judge.hear(Event.FOUND, 1, 1);
    Forecast forecast = forecast();
    assertThat(forecast.isOpen()).isFalse();
    assertThat(forecast.estimates()).allMatch(each -> each.requests() == 1);
    judge.watch(60);
    assertThat(forecast().estimates()).allMatch(each -> each.requests() == 0);
  }

  @Test
  void ofALargeCacheFewerKeysAreWatched() {
    long units = (64L << 30) / MemoryIndex.UNIT_BYTES;
    WhatIf large = new WhatIf(units, 6, 100, 160);
    assertThat(large.forecast(true).sampledShare()).isEqualTo(1.0 / 1024);
  }

  @Test
  void tooManyKeysEndIt() {
    long units = (64L << 20) / MemoryIndex.UNIT_BYTES;
    WhatIf watch = new WhatIf(units, 0, 100, 160);
    long key = 0;
    while (!watch.isOver(100)) {
      for (int i = 0; i < 10_000; i++) {
        watch.hear(Event.FOUND, key++, 1);
      }
      assertThat(key).isLessThan(200_000);
    }
  }
}
