package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class H2loadTest {

  @Test
  void answersAreCountedByStatusAndNotWhatTheEndCutOff() {
    String printed =
        """
        finished in 3.00s, 41234.00 req/s, 44.91MB/s
        requests: 123702 total, 124726 started, 123702 done, 123690 succeeded, 12 failed, 10 errored
        status codes: 123690 2xx, 0 3xx, 2 4xx, 0 5xx
        """;
    assertThat(H2load.parse(printed)).isEqualTo(new H2load.Result(123_692, 2));
  }

  @Test
  void whatIsNoResultIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> H2load.parse("could not connect"));
  }
}
