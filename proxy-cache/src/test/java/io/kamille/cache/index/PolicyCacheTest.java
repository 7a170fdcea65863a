package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PolicyCacheTest {

  private static final int MAXIMUM = 1000;

  private final List<Integer> evicted = new ArrayList<>();
  private PolicyCache<Object, Integer> cache = cache(Policy.LRU);

  /**
   * A cache whose values are their keys, weigh one, and were used later if they are below 500;
   * which is maintained by hand.
   */
  private PolicyCache<Object, Integer> cache(Policy policy) {
    return new PolicyCache<>(
        policy, MAXIMUM, value -> 1, value -> value < 500 ? 1 : 0, evicted::add, () -> {});
  }

  private void add(int from, int to) {
    for (int i = from; i < to; i++) {
      int value = i;
      cache.compute(i, (key, before) -> value);
      cache.maintain();
    }
  }

  private void use(int from, int to) {
    for (int i = from; i < to; i++) {
      cache.find(i);
      cache.maintain();
    }
  }

  private Set<Object> keys() {
    Set<Object> keys = new HashSet<>();
    cache.forEach((key, value) -> keys.add(key));
    return keys;
  }

  private static Integer[] numbers(int from, int to) {
    return IntStream.range(from, to).boxed().toArray(Integer[]::new);
  }

  @Test
  void lruEvictsWhatWasNotUsedForTheLongestTime() {
    add(0, MAXIMUM);
    assertThat(evicted).isEmpty();
    use(0, 100);
    add(MAXIMUM, MAXIMUM + 50);
    assertThat(evicted).containsExactly(numbers(100, 150));
  }

  @Test
  void whatIsUsedOftenSurvivesAScanUnderTinyLfu() {
    cache = cache(Policy.TINYLFU);
    add(0, MAXIMUM);
    use(0, MAXIMUM);
    use(0, MAXIMUM);
    add(MAXIMUM, 3 * MAXIMUM);
    assertThat(keys().stream().filter(key -> (int) key < MAXIMUM).count())
        .isGreaterThan(MAXIMUM * 9 / 10);
  }

  @Test
  void aSwitchToLruKeepsAllAndEvictsFirstWhatIsNotUsedSince() {
    cache = cache(Policy.TINYLFU);
    add(0, MAXIMUM);
    cache.choose(Policy.LRU);
    assertThat(keys()).hasSize(MAXIMUM);
    use(0, 500);
    add(MAXIMUM, MAXIMUM + 500);
    assertThat(evicted).containsExactlyInAnyOrder(numbers(500, MAXIMUM));
  }

  @Test
  void aSwitchBackKeepsAllAndLetsTinyLfuEvictAgain() {
    add(0, MAXIMUM);
    cache.choose(Policy.TINYLFU);
    cache.maintain();
    assertThat(keys()).hasSize(MAXIMUM);
    add(MAXIMUM, MAXIMUM + 100);
    assertThat(keys()).hasSize(MAXIMUM);
  }

  @Test
  void theNextToLeaveAreEvictedWithoutBeingTooMany() {
    add(0, 500);
    use(0, 100);
    assertThat(cache.evictByPolicy(150, evicted::add)).isEqualTo(150);
    assertThat(evicted).containsExactly(numbers(100, 250));
    cache = cache(Policy.TINYLFU);
    add(0, 500);
    assertThat(cache.evictByPolicy(Long.MAX_VALUE, evicted::add)).isEqualTo(500);
    assertThat(keys()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void samplesFindWhatWasNotUsedLately(Policy policy) {
    cache = cache(policy);
    for (int i = 0; i < MAXIMUM; i++) {
      int value = i;
      cache.compute(scattered(i), (key, before) -> value);
      cache.maintain();
    }
    List<Integer> out = new ArrayList<>();
    assertThat(cache.evictBySample(200, Integer.MAX_VALUE, out::add)).isEqualTo(200);
    assertThat(out.stream().filter(number -> number >= 500).count()).isGreaterThan(170);
    assertThat(cache.evictBySample(Long.MAX_VALUE, Integer.MAX_VALUE, out::add)).isEqualTo(800);
    assertThat(keys()).isEmpty();
  }

  @Test
  void whileTheMaintenanceThrowsAdditionsAreTaken() {
    cache = cache(Policy.TINYLFU);
    add(0, MAXIMUM);
    assertThat(evicted).isEmpty();
    for (int i = 0; i < PolicyCache.CHANGES_MAXIMUM; i++) {
      assertThat(cache.isBehind()).as("after %d", i).isFalse();
      FaultyKey faulty = new FaultyKey();
      cache.compute(faulty, (key, before) -> 1);
      faulty.isFaulty = true;
      cache.maintain();
    }
  }

  /** A key whose neighbours in the table have nothing to do with its number. */
  private static Object scattered(int number) {
    return number * 0x9e3779b9;
  }

  /** A key that cannot be hashed any more when Caffeine counts how often it is used. */
  private static final class FaultyKey {

    private boolean isFaulty;

    @Override
    public int hashCode() {
      if (isFaulty) {
        throw new IllegalStateException("thrown by the test");
      }
      return 1;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other == this;
    }
  }

  @Test
  void noCallerDoesTheMaintenanceBeforeTheCacheSaysThatItIsBehind() {
    cache = new PolicyCache<>(Policy.TINYLFU, 1, value -> 1, value -> 0, evicted::add, () -> {});
    int added = 0;
    for (; !cache.isBehind(); added++) {
      cache.compute(added, (key, before) -> 1);
    }
    while (!cache.isFull()) {
      cache.remove(--added);
    }
    assertThat(evicted).isEmpty();
    assertThat(added).isGreaterThanOrEqualTo(PolicyCache.CHANGES_MAXIMUM / 2);
    cache.maintain();
    assertThat(evicted).isNotEmpty();
    assertThat(cache.isBehind()).isFalse();
  }
}
