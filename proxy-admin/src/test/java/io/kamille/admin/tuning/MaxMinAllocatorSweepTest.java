package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LongSummaryStatistics;
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

  /** Terai and others, 2001, §2.1 and §3.1.2: the first demand leaves 190k. */
  @Test
  void smallDemandsLeaveTheirRestToTheOthersInProportion() {
    long[] parts =
        MaxMinAllocator.allocate(
            new long[] {4_000_000, 10_000, 400_000}, 600_000, FLOOR, 8_000_000);
    assertThat(parts).containsExactly(372_727, 10_000, 217_272);
  }

  /** As many as there may be connections. */
  @Test
  void tenMillionDemandsAreShared() {
    long[] demands = new long[10_000_000];
    Arrays.fill(demands, 1L << 38);
    long[] parts = MaxMinAllocator.allocate(demands, 1L << 40, FLOOR, 1L << 38);
    LongSummaryStatistics all = LongStream.of(parts).summaryStatistics();
    assertThat(all.getMin()).isEqualTo((1L << 40) / demands.length).isEqualTo(all.getMax());
  }

  /** Of the rest of 190k, the second would get 53k, but needs 30k beside its equal part. */
  @Test
  void aShareBeyondADemandGoesOnToTheOthers() {
    long[] parts =
        MaxMinAllocator.allocate(new long[] {10_000, 230_000, 600_000}, 600_000, FLOOR, 8_000_000);
    assertThat(parts[1]).isEqualTo(230_000);
    assertThat(parts[2]).isBetween(359_999L, 360_000L);
  }

  @Test
  void noShareExceedsADemandWhileAnotherIsNotMet() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long budget = budget(demands);
      long[] parts = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING);
      long least = Math.max(FLOOR, budget / demands.length);
      boolean isAnyUnmet = false;
      boolean isAnyMore = false;
      for (int i = 0; i < parts.length; i++) {
        isAnyUnmet |= parts[i] < demands[i];
        isAnyMore |= parts[i] > Math.max(demands[i], FLOOR);
        assertThat(parts[i]).isGreaterThanOrEqualTo(Math.min(demands[i], least) - 1);
      }
      assertThat(isAnyUnmet && isAnyMore).isFalse();
    }
  }

  @Test
  void nothingIsLeftWhileADemandIsNotMet() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long wanted = LongStream.of(demands).map(each -> Math.max(each, FLOOR)).sum();
      long budget = random.nextLong(demands.length * FLOOR, wanted + 1);
      long[] parts = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING);
      assertThat(LongStream.of(parts).sum()).isBetween(budget - parts.length, budget);
    }
  }

  @Test
  void equalDemandsGetEqualPartsAndLargerOnesNoLessInAnyOrder() {
    for (int round = 0; round < ROUNDS; round++) {
      long[] demands = demands();
      long budget = budget(demands);
      long[] sorted = demands.clone();
      Arrays.sort(sorted);
      long[] parts = MaxMinAllocator.allocate(demands, budget, FLOOR, CEILING);
      long[] ofSorted = MaxMinAllocator.allocate(sorted, budget, FLOOR, CEILING);
      assertThat(ofSorted).isSorted();
      for (int i = 0; i < parts.length; i++) {
        assertThat(parts[i]).isEqualTo(ofSorted[Arrays.binarySearch(sorted, demands[i])]);
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
    long most = random.nextBoolean() ? 20_000 : 20;
    return random.longs(1 + random.nextInt(40), 0, most).toArray();
  }

  private long budget(long[] demands) {
    return random.nextLong(2 * LongStream.of(demands).sum() + demands.length * FLOOR + 1);
  }
}
