package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.cache.memory.TestMemory;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.LinesLog;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryIndexTest {

  private static final int CAPACITY = 1 << 20;
  private static final int ROOMY = 16 * CAPACITY;

  private final Arena arena = Arena.open(ROOMY);
  private final ManualClock clock = ManualClock.atSeconds(1_800_000_000);
  private MemoryIndex index =
      TestIndexes.inCaller(CAPACITY, PolicyChoice.AUTO, arena::charge, clock);

  @AfterEach
  void everyLeaseHasEnded() {
    index.clear();
    assertThat(index.weightBytes()).isZero();
    arena.close();
  }

  private static String uri(int number) {
    return "http://example.org/" + number;
  }

  /**
   * The same in each run, because by chance two keys are one to the sketch that counts requests.
   */
  private static CacheKey key(int number) {
    SplittableRandom random = new SplittableRandom(number);
    return CacheKey.of(random.nextLong(), random.nextLong());
  }

  private StoredResponse response(int number, int length) {
    ByteBuf octets = Unpooled.buffer();
    EncodedHead head = ResponseCodec.encode(uri(number), ResponseHead.of(200), octets);
    octets.writeZero(length);
    StoredBytes stored = Objects.requireNonNull(TestMemory.store(arena, octets, 0));
    StoredFacts facts = StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0);
    return StoredResponse.of(head, stored, facts, SelectingFields.NONE);
  }

  @Test
  void whatAnOriginMakesUsKeepOnTheHeapIsCharged() {
    String text = "x".repeat(50_000);
    put(1, response(1, 10, text, ResponseHead.of(200, "Cache-Control", "max-age=60")));
    long plain = index.heapBytes();
    assertThat(plain).isGreaterThan(text.length());
    String expires = "Sun, 15 Nov 2026 08:12:31 GMT";
    put(2, response(2, 10, text, ResponseHead.of(200, "Expires", expires)));
    assertThat(index.heapBytes() - plain)
        .as("a lifetime that no other response has takes an object of its own")
        .isGreaterThan(plain);
    index.clear();
    assertThat(index.heapBytes()).isZero();
  }

  @Test
  void whatFailsToBeStoredIsChargedNothing() {
    StoredResponse response = response(1, 10);
    assertThatThrownBy(
            () ->
                index.put(
                    key(1),
                    response,
                    () -> {
                      throw new OutOfMemoryError("for a moment");
                    }))
        .isInstanceOf(OutOfMemoryError.class);
    response.forget();
    assertThat(index.heapBytes()).isZero();
    put(1, 10);
    assertThat(keys()).containsExactly(key(1));
  }

  private StoredResponse response(int number, int length, String cacheStatus, ResponseHead head) {
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded =
        ResponseCodec.encode(uri(number), head, octets).withCacheStatus(cacheStatus);
    octets.writeZero(length);
    StoredBytes stored = Objects.requireNonNull(TestMemory.store(arena, octets, 0));
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0);
    return StoredResponse.of(encoded, stored, facts, SelectingFields.NONE);
  }

  private void put(int number, int length) {
    put(number, response(number, length));
  }

  private void put(int number, StoredResponse response) {
    if (!index.put(key(number), response, () -> true)) {
      response.forget();
    }
  }

  private Set<CacheKey> keys() {
    Set<CacheKey> keys = new HashSet<>();
    index.forEach((key, variants) -> keys.add(key));
    return keys;
  }

  @ParameterizedTest
  @EnumSource
  void neverHoldsMoreThanItMay(PolicyChoice choice) {
    index = TestIndexes.inCaller(CAPACITY, choice, arena::charge, clock);
    for (int i = 0; i < 3000; i++) {
      put(i % 2000, 1 + i % 5000);
      index.find(key(i % 100));
      assertThat(index.weightBytes()).isLessThanOrEqualTo(CAPACITY);
    }
    assertThat(index.evictions()).isGreaterThan(1000);
    assertThat(keys()).hasSize((int) index.size());
  }

  @Test
  void whatIsUsedLastStaysUnderLru() {
    index = TestIndexes.inCaller(CAPACITY, PolicyChoice.LRU, arena::charge, clock);
    for (int i = 0; i < 3000; i++) {
      put(i, 1000);
      assertThat(index.find(key(0))).isNotNull();
    }
  }

  @Test
  void aNewResponseUnderAKeyEndsTheLeaseOnTheOld() {
    StoredResponse old = response(1, 1000);
    put(1, old);
    put(1, 2000);
    assertThat(old.tryRetain()).isFalse();
    assertThat(index.size()).isEqualTo(1);
    assertThat(Objects.requireNonNull(index.find(key(1))).at(0).contentLength()).isEqualTo(2000);
  }

  @Test
  void whatIsRemovedIsForgotten() {
    put(1, 1000);
    put(2, 1000);
    assertThat(index.remove(key(1))).isEqualTo(1);
    assertThat(index.remove(key(1))).isZero();
    assertThat(index.find(key(1))).isNull();
    assertThat(index.clear()).isEqualTo(1);
    assertThat(arena.usedBytes()).isZero();
  }

  @Test
  void keysThatAreEqualInOneHalfAreTwo() {
    assertThat(index.put(CacheKey.of(1, 2), response(1, 10), () -> true)).isTrue();
    assertThat(index.find(CacheKey.of(1, 2))).isNotNull();
    assertThat(index.find(CacheKey.of(3, 2))).isNull();
    assertThat(index.find(CacheKey.of(1, 3))).isNull();
  }

  @Test
  void aResponseIsReplacedOnlyIfItIsStillThere() {
    StoredResponse one = response(1, 1000);
    StoredResponse other = response(1, 2000);
    put(1, one);
    assertThat(index.replace(key(1), other, null)).isFalse();
    assertThat(index.replace(key(2), one, other)).isFalse();
    assertThat(index.replace(key(1), one, other)).isTrue();
    assertThat(one.tryRetain()).isFalse();
    assertThat(index.replace(key(1), other, null)).isTrue();
    assertThat(other.tryRetain()).isFalse();
    assertThat(index.size()).isZero();
  }

  @Test
  void evictingGivesBackAtLeastThatMuchMemory() {
    for (int i = 0; i < 500; i++) {
      put(i, 1000);
    }
    long before = arena.usedBytes();
    index.evictSoon(100_000);
    assertThat(before - arena.usedBytes()).isBetween(100_000L, 102_500L);
    assertThat(index.fallbackEvictions()).isZero();
    index.evictSoon(Long.MAX_VALUE);
    assertThat(arena.usedBytes()).isZero();
    assertThat(index.evict(1)).isZero();
  }

  @Test
  void anotherPolicyKeepsWhatIsStored() {
    for (int i = 0; i < 500; i++) {
      put(i, 1000);
    }
    Set<CacheKey> before = keys();
    long used = arena.usedBytes();
    clock.advance(Duration.ofSeconds(60));
    index.choose(PolicyChoice.LRU);
    assertThat(keys()).isEqualTo(before);
    assertThat(arena.usedBytes()).isEqualTo(used);
    PolicySnapshot snapshot = index.judge().snapshot();
    assertThat(snapshot.choice()).isEqualTo(PolicyChoice.LRU);
    assertThat(snapshot.policy()).isEqualTo(Policy.LRU);
    assertThat(snapshot.sinceEpochSeconds()).isEqualTo(1_800_000_060);
    assertThat(snapshot.reason()).isEqualTo("the setting says so");
    index.choose(PolicyChoice.AUTO);
    assertThat(index.judge().snapshot().policy()).isEqualTo(Policy.LRU);
  }

  @Test
  void autoTakesLruWhereWhatIsNewIsAskedForAndKeepsWhatIsStored() {
    var random = new SplittableRandom(5);
    for (int now = 0; now < 60_000; now++) {
      int number = now / 4 - (int) (300 * random.nextDouble() * random.nextDouble());
      if (index.find(key(number)) == null) {
        put(number, 1000);
      }
    }
    PolicySnapshot snapshot = index.judge().snapshot();
    assertThat(snapshot.policy()).isEqualTo(Policy.LRU);
    assertThat(snapshot.reason()).startsWith("lru would have hit");
    assertThat(index.size()).isGreaterThan(300);
  }

  /** An index whose order nobody ever brings up to date. */
  private MemoryIndex neglected() {
    return new MemoryIndex(
        CAPACITY,
        PolicyChoice.AUTO,
        arena::charge,
        clock,
        work -> new TestIndexes.NoUpkeep(),
        TestIndexes.LOG);
  }

  @Test
  void ifThePolicyEvictsNothingTheIndexMakesRoomByLru() {
    index = neglected();
    for (int i = 0; i < 50; i++) {
      put(i, 1000);
    }
    long before = arena.usedBytes();
    long evicted = index.evict(10_000);
    assertThat(evicted).isBetween(10_000L, 12_500L);
    assertThat(arena.usedBytes()).isEqualTo(before - evicted);
    assertThat(index.fallbackEvictions()).isPositive().isEqualTo(index.evictions());
    assertThat(keys()).hasSize((int) (50 - index.evictions()));
    while (index.evict(Long.MAX_VALUE) > 0) {
      assertThat(index.fallbackEvictions()).isEqualTo(index.evictions());
    }
    assertThat(arena.usedBytes()).isZero();
  }

  @Test
  void aLoopEvictsAFewKeysAtATimeAndNoneWhileItWouldHaveToWait() {
    index = neglected();
    for (int i = 0; i < PolicyCache.CHANGES_MAXIMUM / 8 * 5; i++) {
      put(i, 10);
    }
    assertThat(index.evict(Long.MAX_VALUE)).isPositive();
    assertThat(index.evictions()).isBetween(1L, (long) MemoryIndex.STEP);
    while (index.evict(Long.MAX_VALUE) > 0) {
      assertThat(index.evictions()).isLessThan(PolicyCache.CHANGES_MAXIMUM);
    }
    assertThat(index.evictions()).isLessThanOrEqualTo(PolicyCache.CHANGES_MAXIMUM / 8 * 3L);
    assertThat(keys()).isNotEmpty();
  }

  @Test
  void whatALoopLeavesTheIndexThreadEvicts() {
    Queue<Runnable> asked = new ArrayDeque<>();
    index =
        new MemoryIndex(
            CAPACITY,
            PolicyChoice.AUTO,
            arena::charge,
            clock,
            work -> new Later(work, asked),
            TestIndexes.LOG);
    for (int i = 0; i < 100; i++) {
      put(i, 1000);
    }
    long used = arena.usedBytes();
    index.evictSoon(50_000);
    assertThat(arena.usedBytes()).isEqualTo(used);
    asked.remove().run();
    assertThat(used - arena.usedBytes()).isBetween(50_000L, 52_500L);
    assertThat(index.fallbackEvictions()).isZero();
  }

  /** Does what it is asked when the test says so. */
  private static final class Later extends TestIndexes.NoUpkeep {

    private final Runnable work;
    private final Queue<Runnable> asked;

    Later(Runnable work, Queue<Runnable> asked) {
      this.work = work;
      this.asked = asked;
    }

    @Override
    public void hurry() {
      asked.add(work);
    }
  }

  @Test
  void ifThePolicyIsBehindTheIndexTakesNothingMoreAndMakesRoomByLru() {
    index = neglected();
    int stored = 0;
    while (index.refusals() == 0) {
      put(stored++, 10);
    }
    assertThat(keys()).hasSize(stored - 1).hasSizeLessThan(PolicyCache.CHANGES_MAXIMUM);
    put(stored, 10);
    assertThat(index.find(key(stored))).isNull();
    assertThat(index.find(key(1))).isNotNull();
    assertThat(index.evict(5000)).isGreaterThanOrEqualTo(5000);
    assertThat(index.fallbackEvictions()).isPositive();
    CacheKey left = keys().iterator().next();
    assertThat(index.remove(left)).isEqualTo(1);
    assertThat(index.peek(left)).isNull();
  }

  @Test
  void removalsOfWhatIsNotThereKeepNothingOut() {
    index = neglected();
    for (int i = 0; i < 2 * PolicyCache.CHANGES_MAXIMUM; i++) {
      assertThat(index.remove(key(i))).isZero();
    }
    put(1, 10);
    assertThat(index.refusals()).isZero();
    assertThat(index.find(key(1))).isNotNull();
  }

  @Test
  void whoRemovesEverythingLeavesRoomForWhatIsStoredMeanwhile() {
    index = TestIndexes.late(ROOMY, clock);
    for (int i = 0; i < TestIndexes.MANY; i++) {
      put(i, 10);
    }
    assertThat(index.clear()).isEqualTo(TestIndexes.MANY);
    put(1, 10);
    assertThat(index.refusals()).isZero();
    assertThat(index.find(key(1))).isNotNull();
  }

  @Test
  void ifTheMaintenanceFailsTheIndexEvictsByLruUntilItWorksAgain() {
    FaultyMemory memory = new FaultyMemory();
    index = TestIndexes.inCaller(CAPACITY, PolicyChoice.LRU, memory, clock);
    for (int i = 0; i < 500; i++) {
      put(i, 1000);
    }
    memory.isFaulty = true;
    put(500, 1000);
    assertThat(index.evict(20_000)).isBetween(20_000L, 22_500L);
    long byItself = index.fallbackEvictions();
    assertThat(byItself).isBetween(12L, 20L);
    memory.isFaulty = false;
    put(501, 1000);
    long before = arena.usedBytes();
    index.evictSoon(100_000);
    assertThat(before - arena.usedBytes()).isBetween(100_000L, 102_500L);
    assertThat(index.fallbackEvictions()).isEqualTo(byItself);
    assertThat(keys()).contains(key(501));
  }

  /** An index that evicts only if it must, whose maintenance the test runs, or makes fail. */
  private final class ByHand {

    private final FaultyMemory memory = new FaultyMemory();
    private final List<Runnable> upkeep = new ArrayList<>();
    private final List<String> lines = new ArrayList<>();

    ByHand() {
      index =
          new MemoryIndex(
              ROOMY,
              PolicyChoice.TINYLFU,
              memory,
              clock,
              work -> {
                upkeep.add(work);
                return new TestIndexes.NoUpkeep();
              },
              new LinesLog(lines));
    }

    void put(int from, int to) {
      for (int number = from; number < to; number++) {
        MemoryIndexTest.this.put(number, 10);
      }
    }

    void maintain() {
      upkeep.getFirst().run();
    }

    void fail() {
      memory.isFaulty = true;
      index.evictSoon(1);
      assertThatThrownBy(this::maintain).hasMessage("thrown by the test");
      memory.isFaulty = false;
    }
  }

  @Test
  void whileTheOrderIsNotBehindThePolicyHadMadeNoRoom() {
    ByHand hand = new ByHand();
    hand.put(0, PolicyCache.CHANGES_MAXIMUM / 2);
    assertThat(index.evict(1)).isPositive();
    assertThat(hand.lines).singleElement().asString().contains("had made no room");
  }

  @Test
  void ifTooManyChangesWaitTheOrderIsBehind() {
    ByHand hand = new ByHand();
    hand.put(0, PolicyCache.CHANGES_MAXIMUM / 4 * 3);
    assertThat(index.evict(1)).isPositive();
    assertThat(hand.lines).singleElement().asString().contains("is behind");
  }

  @Test
  void afterAFailureThatIsTheReasonUntilTheMaintenanceWorks() {
    ByHand hand = new ByHand();
    hand.put(0, 100);
    hand.fail();
    assertThat(index.evict(1)).isPositive();
    assertThat(hand.lines).singleElement().asString().contains("order failed");
    hand.maintain();
    assertThat(index.evict(1)).isPositive();
    assertThat(hand.lines).hasSize(2).last().asString().contains("had made no room");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whicheverThePolicyTheLeastRecentlyUsedLeaves(boolean isFailed) {
    ByHand hand = new ByHand();
    hand.put(0, 8);
    for (int number = 0; number < 8; number++) {
      for (int hits = number; hits < 8; hits++) {
        Objects.requireNonNull(index.peek(key(number))).at(0).countHit(100 + number);
      }
    }
    if (isFailed) {
      hand.fail();
    }
    for (int number = 0; number < 8; number++) {
      assertThat(index.peek(key(number))).isNotNull();
      assertThat(index.evict(1)).isPositive();
      assertThat(index.peek(key(number))).isNull();
    }
    assertThat(hand.lines)
        .singleElement()
        .asString()
        .contains("evicting by LRU, from samples, because", isFailed ? "failed" : "no room");
  }

  @Test
  void eachReasonIsSaidOnce() {
    ByHand hand = new ByHand();
    hand.put(0, 100);
    for (int i = 0; i < 3; i++) {
      assertThat(index.evict(1)).isPositive();
      hand.fail();
      assertThat(index.evict(1)).isPositive();
      hand.maintain();
    }
    assertThat(hand.lines).hasSize(2);
    assertThat(index.fallbackEvictions()).isEqualTo(6).isLessThanOrEqualTo(index.evictions());
  }

  private final class FaultyMemory implements IndexMemory {

    private boolean isFaulty;

    @Override
    public boolean charge(long changeBytes) {
      return arena.charge(changeBytes);
    }

    @Override
    public long freeBytes() {
      if (isFaulty) {
        throw new IllegalStateException("thrown by the test");
      }
      return arena.freeBytes();
    }
  }

  @Test
  void aLookThatIsNoUseLeavesTheOrderAsItIs() {
    index = TestIndexes.inCaller(CAPACITY, PolicyChoice.LRU, arena::charge, clock);
    put(0, 1000);
    for (int i = 1; i < 1000; i++) {
      put(i, 1000);
      index.peek(key(0));
    }
    assertThat(index.peek(key(0))).isNull();
    assertThat(index.peek(key(999))).isNotNull();
  }

  @Test
  void asMuchAsIsTakenOfShortMemoryIsEvicted() {
    index = TestIndexes.inCaller(CAPACITY, PolicyChoice.AUTO, new ShortMemory(), clock);
    for (int i = 0; i < 500; i++) {
      put(i, 1000);
    }
    assertThat(index.size()).isEqualTo(500);
    long before = arena.usedBytes();
    index.taken(10_000);
    assertThat(before - arena.usedBytes()).isBetween(10_000L, 12_500L);
    assertThat(index.fallbackEvictions()).isZero();
  }

  /** Nothing is ever free in it. */
  private final class ShortMemory implements IndexMemory {

    @Override
    public boolean charge(long changeBytes) {
      return arena.charge(changeBytes);
    }

    @Override
    public long freeBytes() {
      return 0;
    }
  }

  @Test
  void aCacheWithRoomAdmitsAllAndAFullOneWhatIsNotLargeForItsRequests() {
    for (int i = 0; i < 10_000 && index.admits(key(i), 1000); i++) {
      put(i, 1000);
    }
    assertThat(index.weightBytes()).isGreaterThan(CAPACITY * 9L / 10);
    assertThat(index.admits(key(20_000), 1000)).isTrue();
    int requests = 1;
    while (!index.admits(key(30_000), 2000)) {
      requests++;
    }
    assertThat(requests).isBetween(2, 9);
    assertThat(index.wouldAdmit(key(30_000), 2000)).isTrue();
    assertThat(index.wouldAdmit(key(30_000), 200_000)).isFalse();
  }

  @Test
  void leasesAreRightWhateverManyThreadsDo() throws InterruptedException, ExecutionException {
    int threads = 3;
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Callable<Void>> works = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int seed = i;
        works.add(() -> work(new SplittableRandom(seed)));
      }
      for (Future<Void> work : executor.invokeAll(works)) {
        work.get();
      }
    }
    index.choose(PolicyChoice.AUTO);
    assertThat(index.weightBytes()).isLessThanOrEqualTo(CAPACITY);
    index.clear();
    assertThat(arena.usedBytes()).isZero();
  }

  private Void work(SplittableRandom random) {
    for (int i = 0; i < 4000; i++) {
      int number = random.nextInt(1200);
      switch (random.nextInt(20)) {
        case 0 -> index.remove(key(number));
        case 1 -> index.evict(5000);
        case 2 -> index.choose(PolicyChoice.values()[random.nextInt(3)]);
        case 3, 4, 5, 6, 7 -> put(number, random.nextInt(2000));
        case 8 -> replace(number, random.nextBoolean());
        default -> read(number);
      }
    }
    return null;
  }

  private void replace(int number, boolean isByAnother) {
    Variants found = index.find(key(number));
    if (found == null) {
      return;
    }
    StoredResponse other = isByAnother ? response(number, 100) : null;
    if (!index.replace(key(number), found.at(0), other) && other != null) {
      other.forget();
    }
  }

  private void read(int number) {
    Variants found = index.find(key(number));
    if (found != null && found.at(0).tryRetain()) {
      assertThat(found.at(0).uri()).isEqualTo(uri(number));
      found.at(0).release();
    }
  }
}
