package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.FaultyOrigin.Fault;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class FaultReportTest {

  private final FaultReport report = new FaultReport();

  @Test
  void anotherRouteIsComparedWithItselfWithoutAFault() {
    add(Fault.HANG, 1, 110, OptionalDouble.of(2));
    add(Fault.RESET, 1, 111, OptionalDouble.of(2));
    assertThat(report.verdicts())
        .hasSize(5)
        .anySatisfy(line -> assertThat(line).startsWith("met").contains("hang"))
        .anySatisfy(line -> assertThat(line).startsWith("missed").contains("reset"))
        .anySatisfy(line -> assertThat(line).startsWith("unknown").contains("drip"));
  }

  @Test
  void whatWasNotSeenInEveryRoundIsNotAveraged() {
    add(Fault.HANG, 1, 100, OptionalDouble.of(2));
    assertThat(report.table(Fault.HANG).rows().get(1)).contains("2.0 (2.0–2.0)");
    add(Fault.HANG, 2, 100, OptionalDouble.empty());
    assertThat(report.table(Fault.HANG).rows().get(1)).contains("–");
  }

  @Test
  void rawDataLeaveEmptyWhatWasNotSeen() {
    add(Fault.HANG, 1, 100, OptionalDouble.empty());
    assertThat(report.csv(Map.of()))
        .endsWith("\nhang,kamille,1,1000,10,0.5,,7.25,0,100.0,100.0,0,false\n");
  }

  private void add(Fault fault, int round, double otherP99, OptionalDouble out) {
    report.add(
        new FaultSample(
            "kamille",
            fault,
            round,
            1000,
            10,
            0.5,
            out,
            OptionalDouble.of(7.25),
            0,
            100,
            otherP99,
            0,
            false));
  }
}
