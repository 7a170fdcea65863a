package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.RunTime.Taken;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunTimeTest {

  @Test
  void theFirstTwoFieldsAreRunningAndWaiting() {
    assertThat(Taken.parse("53243372 59534892 150\n")).isEqualTo(new Taken(53_243_372, 59_534_892));
  }

  @Test
  void threadsThatBeganMeanwhileCountAndThoseThatEndedDoNot() {
    var before = new RunTime(Map.of("1", new Taken(100, 10), "2", new Taken(1000, 0)), Map.of());
    var after = new RunTime(Map.of("1", new Taken(150, 30), "3", new Taken(7, 1)), Map.of());
    assertThat(after.since(before)).isEqualTo(new Taken(57, 21));
  }

  @Test
  void someThreadsAreTakenByTheBeginningOfTheirNames() {
    var all =
        new RunTime(
            Map.of("1", new Taken(5, 0), "2", new Taken(7, 0), "3", new Taken(11, 0)),
            Map.of("1", "C2 CompilerThre", "2", "kamille-loop-1", "3", "kamille-loop-2"));
    var none = new RunTime(Map.of(), Map.of());
    assertThat(all.of(List.of("kamille-loop-")).since(none).ranNanos()).isEqualTo(18);
  }

  @Test
  void theMetersOfThisProcessGoForward() throws Exception {
    long pid = ProcessHandle.current().pid();
    RunTime before = RunTime.of(pid);
    assertThat(RunTime.of(pid).since(before).ranNanos()).isNotNegative();
  }
}
