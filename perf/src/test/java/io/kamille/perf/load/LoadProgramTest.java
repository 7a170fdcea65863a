package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.load.LoadProgram.Result;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class LoadProgramTest {

  @Test
  void theResultOfWrkIsFoundAmongTheRest() throws IOException {
    String printed =
        """
        Running 3s test @ http://127.0.0.1:8080/hit/1024
          1 threads and 64 connections
        Requests/sec: 100000.00
        result requests=300000 micros=3000000 bytes=396000000 p50=420 p99=910 p999=2100 errors=2
        """;
    assertThat(LoadProgram.wrk(printed))
        .isEqualTo(new Result(300_000, 3_000_000, 396_000_000, 420, 910, 2));
  }

  @Test
  void answersOfH2loadAreCountedByStatusAndNotWhatTheEndCutOff() throws IOException {
    String printed =
        """
        finished in 3.00s, 41234.00 req/s, 44.91MB/s
        requests: 123702 total, 124726 started, 123702 done, 123690 succeeded, 12 failed, 10 errored
        status codes: 123690 2xx, 0 3xx, 2 4xx, 0 5xx
        """;
    assertThat(LoadProgram.h2load(printed, 3))
        .isEqualTo(new Result(123_692, 3_000_000, 0, 0, 0, 2));
  }

  @Test
  void withoutAResultTheMessageShowsWhatWasPrinted() {
    assertThatThrownBy(() -> LoadProgram.wrk("unable to connect"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("unable to connect");
  }
}
