package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MaxMinAllocatorSweepTest {

  private static final long SEED = 20011115;
  private static final int ROUNDS = 2000;
  private static final long FLOOR = 16;
  private static final long CEILING = 100_000;

  private final SplittableRandom random = new SplittableRandom(SEED);

  @Test
  void theSumNeverExceedsTheBudgetButForTheFloor() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long budget = budget(demands);
      long[] parts = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING);
      assertThat(LongStream.of(parts).sum())
          .isLessThanOrEqualTo(Math.max(budget, demands.length * FLOOR));
      assertThat(LongStream.of(parts).allMatch(part -> part >= FLOOR && part <= CEILING)).isTrue();
    }
  }

  /** Who gets less than it wants gets as much as anybody, but for rounding. */
  @Test
  void nobodyCanGainWithoutAPoorerOneLosing() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long[] parts = MaxMinAllocator.allocate(demands, budget(demands), FLOOR, CEILING);
      long greatest = Arrays.stream(parts).max().orElse(0);
      for (int i = 0; i < parts.length; i++) {
        if (parts[i] < demands[i]) {
          assertThat(parts[i]).isGreaterThanOrEqualTo(Math.min(greatest, CEILING) - 1);
        }
      }
    }
  }

  @Test
  void aLargerBudgetTakesFromNobody() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long budget = budget(demands);
      long[] before = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING);
      long[] after =
          MaxMinAllocator.allocate(demands, budget + random.nextLong(10_000), FLOOR, CEILING);
      for (int i = 0; i < before.length; i++) {
        assertThat(after[i]).isGreaterThanOrEqualTo(before[i] - 1);
      }
    }
  }

  @Test
  void whoWantsMoreGetsNoLess() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long budget = budget(demands);
      int one = random.nextInt(demands.length);
      long before = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING)[one];
      demands[one] += random.nextLong(10_000);
      assertThat(MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING)[one])
          .isGreaterThanOrEqualTo(before - 1);
    }
  }

  @Test
  void surplusInProportionGoesByDemand() {
    long[] parts = MaxMinAllocator.allocate(new long[] {100, 300}, 4000, FLOOR, CEILING);
    assertThat(parts[1]).isBetween(2 * parts[0], 3 * parts[0] + 3);
    assertThat(parts[0] + parts[1]).isBetween(3998L, 4000L);
  }

  /** The paper's situation: 512 KB, one that could use 300 KB and 200 that could use 12 KB. */
  @Test
  void oneThatNeedsMuchIsLeftWhatTheOthersDoNotNeed() {
    long[] demands = new long[101];
    Arrays.fill(demands, 2_000);
    demands[0] = 300_000;
    long[] parts = MaxMinAllocator.allocate(demands, 524_288, FLOOR, 1 << 20);
    assertThat(parts[0]).isGreaterThanOrEqualTo(300_000);
  }

  @Test
  void nobodyAtAllIsFine() {
    assertThat(MaxMinAllocator.allocate(new long[0], 1000, FLOOR, CEILING)).isEmpty();
  }

  private long[] demands() {
    return random.longs(1 + random.nextInt(40), 0, 20_000).toArray();
  }

  private long budget(long[] demands) {
    return random.nextLong(2 * LongStream.of(demands).sum() + demands.length * FLOOR + 1);
  }
}
