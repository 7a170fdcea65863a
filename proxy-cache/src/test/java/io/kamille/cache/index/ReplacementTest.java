package io.kamille.cache.index;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ReplacementTest {

  private static final int MAXIMUM = 1000;

  private final Map<Long, Item> items = new HashMap<>();
  private Replacement order = new Replacement(Policy.LRU, MAXIMUM, MAXIMUM);

  private static final class Item extends Node {

    private final long number;

    Item(long number) {
      this.number = number;
    }

    @Override
    long hash() {
      return number;
    }
  }

  private void begin(Policy policy) {
    order = new Replacement(policy, MAXIMUM, MAXIMUM);
    items.clear();
  }

  private void add(long number, int units) {
    Item item = new Item(number);
    items.put(number, item);
    order.add(item, units);
    settle();
  }

  private void addAll(long from, long to) {
    LongStream.range(from, to).forEach(number -> add(number, 1));
  }

  private void use(long from, long to) {
    LongStream.range(from, to)
        .forEach(number -> order.touch(Objects.requireNonNull(items.get(number))));
  }

  private void settle() {
    for (Node out = order.takeSurplus(); out != null; out = order.takeSurplus()) {
      items.remove(((Item) out).number);
    }
  }

  private List<Long> inOrderOfLeaving() {
    List<Long> left = new ArrayList<>();
    for (Node out = order.takeColdest(); out != null; out = order.takeColdest()) {
      left.add(((Item) out).number);
    }
    return left;
  }

  @Test
  void lruForgetsWhatWasNotUsedForTheLongestTime() {
    for (int i = 0; i < 100; i++) {
      add(i, 10);
    }
    use(0, 50);
    use(20, 21);
    LongStream.range(100, 151).forEach(number -> add(number, 10));
    assertThat(items.keySet())
        .isEqualTo(LongStream.range(1, 151).filter(n -> n < 50 || n > 99).boxed().collect(toSet()));
    assertThat(inOrderOfLeaving().subList(18, 50)).startsWith(19L, 21L).endsWith(20L, 100L);
  }

  @Test
  void nothingLeavesWhileThereIsRoom() {
    for (Policy policy : Policy.values()) {
      begin(policy);
      addAll(0, MAXIMUM);
      assertThat(items).hasSize(MAXIMUM);
      assertThat(order.units()).isEqualTo(MAXIMUM);
    }
  }

  @Test
  void whatIsUsedOftenSurvivesAScanUnderTinyLfu() {
    begin(Policy.TINYLFU);
    addAll(0, MAXIMUM);
    use(0, MAXIMUM);
    use(0, MAXIMUM);
    addAll(MAXIMUM, 3 * MAXIMUM);
    assertThat(LongStream.range(0, MAXIMUM).filter(items::containsKey).count())
        .isGreaterThan(MAXIMUM * 9 / 10);
  }

  @Test
  void whatIsUsedOftenIsLostInAScanUnderLru() {
    addAll(0, MAXIMUM);
    use(0, MAXIMUM);
    addAll(MAXIMUM, 2 * MAXIMUM);
    assertThat(LongStream.range(0, MAXIMUM)).noneMatch(items::containsKey);
  }

  @Test
  void aLargeNodePushesOutManySmallOnesOnlyWhenItIsHot() {
    begin(Policy.TINYLFU);
    addAll(0, MAXIMUM);
    for (int i = 0; i < 5; i++) {
      add(-1, 125);
      assertThat(items).hasSize(MAXIMUM).doesNotContainKey(-1L);
    }
    for (int i = 0; i < 5 && !items.containsKey(-1L); i++) {
      add(-1, 125);
    }
    assertThat(items).containsKey(-1L);
  }

  @Test
  void aLargeNodeGetsInWhenItIsAskedForMoreThanAllThatLeavesForIt() {
    begin(Policy.TINYLFU);
    for (int i = 0; i < 10; i++) {
      add(i, 100);
    }
    add(-1, 125);
    add(-1, 125);
    assertThat(items).hasSize(10);
    add(-1, 125);
    assertThat(items).containsKey(-1L).hasSize(9);
  }

  @Test
  void aLargeNodeComesIntoAFullLruWhenItIsAskedForAgainAndAgain() {
    addAll(0, MAXIMUM);
    for (int i = 0; i < 3; i++) {
      add(-1, 125);
      assertThat(items).hasSize(MAXIMUM).doesNotContainKey(-1L);
    }
    add(-1, 125);
    assertThat(items).hasSize(MAXIMUM - 125 + 1).containsKey(-1L);
  }

  @Test
  void whatIsLargerThanAllNeverGetsIn() {
    for (Policy policy : Policy.values()) {
      begin(policy);
      addAll(0, 10);
      for (int i = 0; i < 20; i++) {
        add(-1, MAXIMUM + 1);
      }
      assertThat(items).hasSize(10).doesNotContainKey(-1L);
    }
  }

  @Test
  void aSwitchToLruKeepsAllAndForgetsWhatIsNotUsedFirst() {
    begin(Policy.TINYLFU);
    addAll(0, MAXIMUM);
    assertThat(order.choose(Policy.LRU)).isTrue();
    assertThat(order.count()).isEqualTo(MAXIMUM);
    use(0, 500);
    addAll(MAXIMUM, MAXIMUM + 500);
    assertThat(LongStream.range(0, 500)).allMatch(items::containsKey);
    assertThat(LongStream.range(500, MAXIMUM)).noneMatch(items::containsKey);
  }

  @Test
  void aSwitchBackKeepsAllAndTheirOrder() {
    addAll(0, MAXIMUM);
    assertThat(order.choose(Policy.TINYLFU)).isTrue();
    assertThat(order.count()).isEqualTo(MAXIMUM);
    assertThat(inOrderOfLeaving()).isEqualTo(LongStream.range(0, MAXIMUM).boxed().toList());
  }

  @Test
  void whatIsLeftFromBeforeTwoSwitchesIsForgottenFirst() {
    begin(Policy.TINYLFU);
    addAll(0, 500);
    order.choose(Policy.LRU);
    addAll(500, 600);
    order.choose(Policy.TINYLFU);
    assertThat(order.choose(Policy.LRU)).isFalse();
    add(600, 1);
    assertThat(inOrderOfLeaving().subList(0, 400))
        .isEqualTo(LongStream.range(0, 400).boxed().toList());
  }

  @Test
  void countsAndWeightsAreRightWhateverHappens() {
    var random = new SplittableRandom(7);
    begin(Policy.TINYLFU);
    for (int step = 0; step < 50_000; step++) {
      long number = (long) (2000 * random.nextDouble() * random.nextDouble());
      Item item = items.get(number);
      if (item == null) {
        add(number, 1 + random.nextInt(20));
      } else if (random.nextInt(20) == 0) {
        order.remove(item);
        items.remove(number);
      } else if (random.nextInt(20) == 0) {
        order.weigh(item, 1 + random.nextInt(20));
        settle();
      } else {
        order.touch(item);
      }
      if (random.nextInt(1000) == 0) {
        order.choose(Policy.values()[random.nextInt(2)]);
      }
      assertThat(order.count()).isEqualTo(items.size());
      assertThat(order.units()).isLessThanOrEqualTo(MAXIMUM);
    }
    assertThat(order.units()).isEqualTo(items.values().stream().mapToLong(Node::units).sum());
    assertThat(inOrderOfLeaving()).containsExactlyInAnyOrderElementsOf(items.keySet());
  }
}
