package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class AllocationTraceTest {

  private final AllocationTrace trace = new AllocationTrace();

  @Test
  void variationIsOverTheSteadyPartInPartsOfTheMean() {
    trace.add(1, "a", 900 << 10);
    trace.add(5, "a", 100 << 10);
    trace.add(6, "a", 300 << 10);
    assertThat(trace.mean("a", 5)).isEqualTo(200);
    assertThat(trace.variation("a", 5)).isCloseTo(0.5, within(1e-9));
    assertThat(trace.variation("b", 5)).isNaN();
  }

  @Test
  void theBudgetBindsInLooksThatWantMore() {
    trace.addDemand(1, 10);
    trace.addDemand(5, 10);
    trace.addDemand(6, 30);
    assertThat(trace.boundShare(5, 20)).isEqualTo(0.5);
  }

  @Test
  void theControlPlaneTellsDemandsAndAllocations() {
    String answer =
        "{\"connections\":[{\"number\":7,\"client\":\"10.78.1.1\",\"demandBytes\":4096,"
            + "\"allocationBytes\":2048},{\"number\":8,\"client\":\"10.78.1.2\",\"path\":{},"
            + "\"demandBytes\":1024,\"allocationBytes\":1024}]}";
    trace.addAnswer(2, answer);
    assertThat(trace.mean("10.78.1.1", 0)).isEqualTo(2);
    assertThat(trace.mean("10.78.1.2", 0)).isEqualTo(1);
    assertThat(trace.boundShare(0, 5119)).isEqualTo(1);
    assertThat(trace.boundShare(0, 5120)).isZero();
  }
}
