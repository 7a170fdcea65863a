package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What all loops together let request heads take of the heap. */
class RoomForHeadsTest {

  private static final long MIB = 1 << 20;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 64, 1_000})
  void isAnEighthOfTheHeapAtTheMostHoweverManyLoopsThereAre(int loops) {
    long all = loops * ClientSide.roomForHeadsBytes(64 * MIB, loops);
    assertThat(all).isLessThanOrEqualTo(8 * MIB).isGreaterThan(8 * MIB - loops);
  }
}
