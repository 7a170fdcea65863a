package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Loops that take up what they are told at any time, in any order. */
class SizesSweepTest {

  private static final long SEED = 20011115;
  private static final long FLOOR = 100;
  private static final long BUDGET = 50_000;
  private static final int PASSES = 200;

  @RepeatedTest(50)
  void theSumOfSizesIsWithinTheBudgetAtEveryMoment(RepetitionInfo repetition) {
    var random = new SplittableRandom(SEED + repetition.getCurrentRepetition());
    int n = 1 + random.nextInt(40);
    long[] told = new long[n];
    long[] inForce = new long[n];
    long[] seen = new long[n];
    for (int pass = 0; pass < PASSES; pass++) {
      told = Sizes.next(told, held(told, seen), parts(random, n), BUDGET, FLOOR);
      for (int i : shuffled(random, n)) {
        if (random.nextInt(3) > 0) {
          inForce[i] = told[i];
          assertThat(LongStream.of(inForce).sum()).isLessThanOrEqualTo(BUDGET + n * FLOOR);
        }
      }
      for (int i = 0; i < n; i++) {
        seen[i] = random.nextBoolean() ? inForce[i] : Math.max(seen[i], inForce[i]);
      }
    }
  }

  @RepeatedTest(20)
  void partsThatStayAreReachedToAFifth(RepetitionInfo repetition) {
    var random = new SplittableRandom(SEED - repetition.getCurrentRepetition());
    int n = 1 + random.nextInt(40);
    long[] told = parts(random, n);
    long[] parts = parts(random, n);
    for (int pass = 0; pass < 5; pass++) {
      told = Sizes.next(told, told, parts, BUDGET, FLOOR);
    }
    for (int i = 0; i < n; i++) {
      assertThat(told[i]).isBetween((long) (parts[i] / 1.2) - 1, (long) (parts[i] / 0.8) + 1);
    }
  }

  @Test
  void whatHardlyChangesStays() {
    assertThat(next(100, 119)).isEqualTo(100);
    assertThat(next(100, 121)).isEqualTo(121);
    assertThat(next(100, 81)).isEqualTo(100);
    assertThat(next(100, 79)).isEqualTo(79);
  }

  @Test
  void growthWaitsForWhatIsFreed() {
    long[] parts = {400, 600};
    long[] first = Sizes.next(new long[] {900, 100}, new long[] {900, 100}, parts, 1000, 10);
    assertThat(first).containsExactly(400, 100);
    assertThat(Sizes.next(first, new long[] {900, 100}, parts, 1000, 10)).containsExactly(400, 100);
    assertThat(Sizes.next(first, new long[] {400, 100}, parts, 1000, 10)).containsExactly(400, 600);
  }

  /** 1,200 would be held where 1,000 may be. */
  @Test
  void sizesThatHardlyChangeShrinkIfTheyAreTooMuchTogether() {
    long[] present = {600, 600};
    assertThat(Sizes.next(present, present, new long[] {500, 500}, 1000, 10))
        .containsExactly(500, 500);
  }

  @Test
  void nobodyGetsLessThanTheFloorThoughTheBudgetIsGone() {
    assertThat(Sizes.next(new long[2], new long[2], new long[] {50, 80}, 0, 10))
        .containsExactly(10, 10);
  }

  private static long next(long present, long part) {
    long[] now = {present};
    return Sizes.next(now, now, new long[] {part}, 1000, 10)[0];
  }

  private static long[] held(long[] told, long[] seen) {
    return IntStream.range(0, told.length).mapToLong(i -> Math.max(told[i], seen[i])).toArray();
  }

  /** At random, and no more than the budget together. */
  private static long[] parts(SplittableRandom random, int n) {
    long[] wanted = random.longs(n, 0, 20_000).toArray();
    return MaxMinAllocator.allocate(wanted, BUDGET, FLOOR, BUDGET);
  }

  private static int[] shuffled(SplittableRandom random, int n) {
    long[] order = random.longs(n, 0, Integer.MAX_VALUE).toArray();
    Arrays.setAll(order, i -> order[i] << Integer.SIZE | i);
    Arrays.sort(order);
    return Arrays.stream(order).mapToInt(each -> (int) each).toArray();
  }
}
