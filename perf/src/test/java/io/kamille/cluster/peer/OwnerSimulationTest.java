package io.kamille.cluster.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class OwnerSimulationTest {

  private final OwnerSimulation nine = new OwnerSimulation(9);
  private final OwnerSimulation ten = new OwnerSimulation(10);

  @Test
  void aNodeThatJoinsTakesItsPartOfTheKeysAndNoOthersMove() {
    assertThat(nine.moved(ten)).isCloseTo(0.1, within(0.01));
    for (int key = 0; key < nine.ownerOf.length; key++) {
      assertThat(ten.ownerOf[key]).isIn(nine.ownerOf[key], 9);
    }
  }

  @Test
  void withABoundNoNodeHasMoreThanItsPart() {
    assertThat(ten.load(false).greatest()).isGreaterThan(1.5);
    assertThat(ten.load(false).elsewhere()).isZero();
    assertThat(ten.load(true).greatest()).isLessThanOrEqualTo(1.25);
  }
}
