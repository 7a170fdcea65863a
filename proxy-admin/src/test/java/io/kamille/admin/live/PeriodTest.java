package io.kamille.admin.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.live.History.Range;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class PeriodTest {

  private static final Instant NOW = Instant.parse("2026-11-23T09:00:00Z");

  private final History history = new History();

  private void second(double requests, double missP99) {
    double[] values = new double[Figure.values().length];
    values[Figure.REQUESTS.ordinal()] = requests;
    values[Figure.MISS_P99.ordinal()] = missP99;
    history.add(new Point(values));
  }

  @Test
  void aPeriodHasSumsAndPeaksWithTheirTimes() {
    second(100, 7);
    second(10, 0);
    second(40, 3);
    second(20, 5);
    Period last = Period.of(history, Range.MINUTES, 3, 0, NOW);
    assertThat(last.seconds()).isEqualTo(3);
    assertThat(last.requests()).isEqualTo(70);
    assertThat(last.busiest()).isEqualTo(new Period.Peak("2026-11-23T08:59:59Z", 40));
    assertThat(last.missP99()).isEqualTo(new Period.Peak("2026-11-23T09:00:00Z", 5));
    Period before = Period.of(history, Range.MINUTES, 6, 3, NOW);
    assertThat(before.seconds()).isEqualTo(1);
    assertThat(before.requests()).isEqualTo(100);
    assertThat(Period.of(history, Range.MINUTES, 20, 10, NOW).seconds()).isZero();
  }

  @Test
  void ofSeveralSecondsTheSlowestPercentileCountsAndTheMeanOfTheRest() {
    for (int i = 0; i < 10; i++) {
      second(i < 5 ? 0 : 20, i);
    }
    assertThat(history.values(Range.HOURS, Figure.REQUESTS)).containsExactly(10);
    assertThat(history.values(Range.HOURS, Figure.MISS_P99)).containsExactly(9);
  }

  @Test
  void theFinestRangeHasAllThatIsWanted() {
    for (int i = 0; i < 601; i++) {
      second(1, 0);
    }
    assertThat(history.finest(600)).isEqualTo(Range.MINUTES);
    assertThat(history.finest(1_000_000)).isEqualTo(Range.HOURS);
    assertThat(Period.of(history, history.finest(7200), 360, 0, NOW).requests()).isEqualTo(600);
  }
}
