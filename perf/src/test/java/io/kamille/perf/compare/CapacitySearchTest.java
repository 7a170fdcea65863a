package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CapacitySearchTest {

  private final CapacitySearch search = new CapacitySearch(1.25, 1.03, 20);
  private final List<Double> tried = new ArrayList<>();

  private double find(CapacitySearch search, double beginning, double capacity) throws Exception {
    return search.find(
        beginning,
        rate -> {
          tried.add(rate);
          return rate <= capacity;
        });
  }

  @ParameterizedTest
  @ValueSource(doubles = {3000, 49_999, 50_000, 50_001, 110_000, 1_000_000})
  void whatIsFoundHoldsAndAThirtiethMoreDoesNot(double capacity) throws Exception {
    assertThat(find(search, 50_000, capacity)).isBetween(capacity / 1.03, capacity);
  }

  @Test
  void fewTrialsAreEnough() throws Exception {
    find(search, 50_000, 110_000);
    assertThat(tried).hasSizeLessThanOrEqualTo(8);
  }

  @Test
  void itEndsAfterItsTrials() throws Exception {
    var bounded = new CapacitySearch(1.25, 1.03, 3);
    assertThat(find(bounded, 1000, Double.MAX_VALUE)).isEqualTo(1000 * 1.25 * 1.25);
    assertThat(find(bounded, 1000, 0)).isZero();
    assertThat(tried).hasSize(6);
  }
}
