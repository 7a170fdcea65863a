package io.kamille.launcher.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.launcher.doctor.Need.Demand;
import java.time.Duration;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class NeedTest {

  private static final Offset<Double> CLOSE = within(1e-6);

  private static Demand demand(double rate, long bytes, double hitRatio, double utilization) {
    return new Demand(
        rate,
        bytes,
        hitRatio,
        1000,
        Duration.ofMillis(200),
        10,
        Duration.ofSeconds(30),
        utilization);
  }

  @Test
  void costGrowsWithTheResponse() {
    assertThat(Need.of(demand(1, 0, 1, 1)).micros()).isCloseTo(9, CLOSE);
    assertThat(Need.of(demand(1, 1 << 20, 1, 1)).micros()).isCloseTo(162.6, CLOSE);
    assertThat(Need.of(demand(1, 10 << 10, 0, 1)).micros()).isCloseTo(22, CLOSE);
  }

  @Test
  void hitsAndMissesCostByTheirShares() {
    Need need = Need.of(demand(200_000, 0, 0.5, 0.5));
    assertThat(need.micros()).isCloseTo(14, CLOSE);
    assertThat(need.loops()).isEqualTo(new Need.Loops(3, 6, 12));
  }

  @Test
  void anyLoadNeedsALoop() {
    assertThat(Need.of(demand(0.1, 0, 1, 1)).loops()).isEqualTo(new Need.Loops(1, 1, 1));
  }

  @Test
  void memoryIsThatOfContentHeadAndIndex() {
    Need need = Need.of(demand(1, 10_000, 1, 1));
    assertThat(need.bytesPerResponse()).isEqualTo(10_560);
    assertThat(need.memoryBytes()).isEqualTo(10_560_000);
  }

  @Test
  void connectionsAreRateTimesStayLittle1961() {
    Need need = Need.of(demand(1000, 1 << 10, 0.9, 1));
    assertThat(need.clientConnections()).isEqualTo(3000);
    assertThat(need.originConnections()).isEqualTo(21);
  }
}
