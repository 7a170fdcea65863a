package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CoreTimeTest {

  private static final List<String> STAT =
      List.of(
          "cpu  20 0 40 2000 100 6 8 2 50 0",
          "cpu0 10 1 20 1000 50 3 4 1 5 0",
          "cpu1 10 0 20 1000 50 3 4 1 0 0",
          "intr 12345");

  @Test
  void everythingButIdlingAndWaitingForDisksIsBusy() {
    assertThat(CoreTime.parse(STAT, 0)).isEqualTo((10 + 1 + 20 + 3 + 4 + 1) * 10_000);
  }
}
