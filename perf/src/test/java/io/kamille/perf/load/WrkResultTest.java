package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class WrkResultTest {

  private static final String PRINTED =
      """
      Running 3s test @ http://127.0.0.1:8080/hit/1024
        1 threads and 64 connections
      Requests/sec: 100000.00
      result requests=300000 micros=3000000 bytes=396000000 p50=420 p99=910 p999=2100 errors=0
      """;

  @Test
  void theResultIsFoundAmongTheRest() {
    assertThat(WrkResult.parse(PRINTED))
        .isEqualTo(new WrkResult(300_000, 3_000_000, 396_000_000, 420, 910, 2100, 0));
  }

  @Test
  void withoutAResultTheMessageShowsWhatWasPrinted() {
    assertThatThrownBy(() -> WrkResult.parse("unable to connect"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unable to connect");
  }
}
