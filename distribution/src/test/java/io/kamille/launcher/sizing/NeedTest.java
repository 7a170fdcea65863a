package io.kamille.launcher.sizing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NeedTest {

  private static final Offset<Double> CLOSE = within(1e-6);

  private static final Calibration FIXED =
      new Calibration(
          "abacus",
          "1",
          new CostBySize(new Cost(9, 10, 12), new Cost(60, 61, 70)),
          new CostBySize(new Cost(40, 50, 60), new Cost(200, 305, 400)));

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
  void costGrowsInAStraightLineBetweenWhatWasMeasured() {
    assertThat(FIXED.hit().at(1 << 10).median()).isCloseTo(10, CLOSE);
    assertThat(FIXED.hit().at(256 << 10).median()).isCloseTo(61, CLOSE);
    assertThat(FIXED.hit().at(6 << 10).median()).isCloseTo(11, CLOSE);
  }

  @Test
  void costIsNoLessThanOfTheSmallAndInProportionBeyondTheLarge() {
    assertThat(FIXED.hit().at(0).median()).isCloseTo(10, CLOSE);
    assertThat(FIXED.hit().at(1 << 20).median()).isCloseTo(244, CLOSE);
  }

  @Test
  void hitsAndMissesCostByTheirShares() {
    Need need = Need.of(demand(10_000, 1 << 10, 0.75, 0.5), FIXED);
    assertThat(need.micros().median()).isCloseTo(20, CLOSE);
    assertThat(need.loops().middle()).isEqualTo(1);
    assertThat(Need.of(demand(100_000, 1 << 10, 0.75, 0.5), FIXED).loops().middle()).isEqualTo(4);
  }

  @Test
  void theRangeIsThatOfTheMeasurementsButNoLessThanTheLeastError() {
    Need wide = Need.of(demand(1, 1 << 10, 0, 1), FIXED);
    assertThat(wide.micros()).isEqualTo(new Cost(40, 50, 60));
    Need narrow = Need.of(demand(1, 256 << 10, 1, 1), FIXED);
    assertThat(narrow.micros().least()).isCloseTo(61 * 0.85, CLOSE);
    assertThat(narrow.micros().greatest()).isCloseTo(61 * 1.15, CLOSE);
    Need.Loops loops = Need.of(demand(100_000, 1 << 10, 0, 1), FIXED).loops();
    assertThat(loops).isEqualTo(new Need.Loops(4, 5, 6));
  }

  @Test
  void anyLoadNeedsALoop() {
    assertThat(Need.of(demand(0.1, 0, 1, 1), FIXED).loops()).isEqualTo(new Need.Loops(1, 1, 1));
  }

  @Test
  void memoryIsThatOfContentHeadAndIndex() {
    Need need = Need.of(demand(1, 10_000, 1, 1), FIXED);
    assertThat(need.bytesPerResponse()).isEqualTo(10_560);
    assertThat(need.memoryBytes()).isEqualTo(10_560_000);
  }

  @Test
  void connectionsAreRateTimesStayLittle1961() {
    Need need = Need.of(demand(1000, 1 << 10, 0.9, 1), FIXED);
    assertThat(need.clientConnections()).isEqualTo(3000);
    assertThat(need.originConnections()).isEqualTo(21);
  }

  @Test
  void aCalibrationIsReadAsItWasStored(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("a").resolve("costs");
    FIXED.store(file);
    assertThat(Calibration.load(file)).isEqualTo(FIXED);
  }

  @Test
  void aFileWithoutACalibrationIsRefused(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("costs"), "machine=abacus\nversion=1\n");
    assertThatThrownBy(() -> Calibration.load(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("hit.small is missing");
    Files.writeString(file, "machine=abacus\nversion=1\nhit.small=3 2 1\n");
    assertThatThrownBy(() -> Calibration.load(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("in order");
  }
}
