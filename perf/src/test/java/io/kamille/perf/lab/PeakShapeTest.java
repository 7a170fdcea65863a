package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.lab.PeakShape.Stretch;
import org.junit.jupiter.api.Test;

class PeakShapeTest {

  @Test
  void aTrapezoidHasItsPartsWhereTheScheduleHasThem() {
    var shape = new PeakShape(150, 600, 8, 2);
    assertThat(shape.schedule().durationNanos()).isEqualTo(shape.seconds() * 1_000_000_000L);
    assertRate(shape, shape.offPeak(), 150);
    assertRate(shape, shape.peak(), 600);
    assertRate(shape, new Stretch(shape.seconds() - 8, shape.seconds()), 150);
    assertThat(shape.into().to()).isEqualTo(shape.outOf().from());
  }

  @Test
  void aConvexOneHasNoWaysBetween() {
    var shape = new PeakShape(150, 600, 8, 0);
    assertThat(shape.peak()).isEqualTo(new Stretch(8, 16));
    assertRate(shape, shape.peak(), 600);
    assertRate(shape, new Stretch(shape.seconds() - 8, shape.seconds()), 150);
  }

  @Test
  void aPeakStandsBetweenTwoStretchesOfTheSameLength() {
    var convex = new PeakShape(100, 400, 10, 0).schedule();
    assertThat(convex.durationNanos()).isEqualTo(30_000_000_000L);
    assertThat(convex.expectedCount()).isEqualTo(6000);
    assertThat(convex.ratePerSecond(15_000_000_000L)).isEqualTo(400);
    var trapezoid = new PeakShape(100, 400, 10, 2).schedule();
    assertThat(trapezoid.durationNanos()).isEqualTo(34_000_000_000L);
    assertThat(trapezoid.expectedCount()).isEqualTo(7000);
    assertThat(trapezoid.ratePerSecond(11_000_000_000L)).isEqualTo(250);
  }

  private static void assertRate(PeakShape shape, Stretch stretch, double rate) {
    assertThat(shape.schedule().ratePerSecond(stretch.from() * 1_000_000_000L)).isEqualTo(rate);
    assertThat(shape.schedule().ratePerSecond(stretch.to() * 1_000_000_000L - 1)).isEqualTo(rate);
  }
}
