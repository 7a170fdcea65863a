package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.RunTime.Taken;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunTimeTest {

  @Test
  void theFirstTwoFieldsAreRunningAndWaiting() {
    assertThat(Taken.parse("53243372 59534892 150\n")).isEqualTo(new Taken(53_243_372, 59_534_892));
  }

  @Test
  void threadsThatBeganMeanwhileCountAndThoseThatEndedDoNot() {
    var before = new RunTime(Map.of("1", new Taken(100, 10), "2", new Taken(1000, 0)));
    var after = new RunTime(Map.of("1", new Taken(150, 30), "3", new Taken(7, 1)));
    assertThat(after.since(before)).isEqualTo(new Taken(57, 21));
  }

  @Test
  void theMetersOfThisProcessGoForward() throws Exception {
    long pid = ProcessHandle.current().pid();
    RunTime before = RunTime.of(pid);
    assertThat(RunTime.of(pid).since(before).ranNanos()).isNotNegative();
  }
}
