package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Why an index evicts by LRU itself, where nobody brings its order up to date. */
class IndexRoomTest {

  private static final long CAPACITY_UNITS = 1 << 20;

  private final Arena arena = Arena.open(16 << 20);
  private final Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
  private final PolicyCache<CacheKey, Variants> cache =
      new PolicyCache<>(
          Policy.TINYLFU,
          CAPACITY_UNITS,
          IndexRoom::units,
          variants -> variants.at(0).lastUse(),
          evicted::add,
          () -> {});
  private final List<String> lines = new ArrayList<>();
  private final IndexRoom room =
      new IndexRoom(
          CAPACITY_UNITS,
          arena::charge,
          cache,
          evicted,
          new TestIndexes.NoUpkeep(),
          new LinesLog(lines));

  @AfterEach
  void everyLeaseEnds() {
    cache.forEach((key, variants) -> room.left(Objects.requireNonNull(cache.remove(key))));
    arena.close();
  }

  private static CacheKey key(int number) {
    return Objects.requireNonNull(CacheKey.find(uri(number)));
  }

  private static String uri(int number) {
    return "http://example.org/" + number;
  }

  private void put(int number) {
    String uri = uri(number);
    ByteBuf octets = Unpooled.buffer();
    EncodedHead head = ResponseCodec.encode(uri, ResponseHead.of(200), octets);
    StoredFacts facts = StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0);
    StoredResponse response =
        StoredResponse.of(
            head,
            Objects.requireNonNull(TestMemory.store(arena, octets, 0)),
            facts,
            SelectingFields.NONE);
    assertThat(room.charge(IndexRoom.heapUnits(response))).isTrue();
    cache.compute(key(number), (key, before) -> response);
    room.count(null, response);
  }

  private void put(int from, int to) {
    for (int number = from; number < to; number++) {
      put(number);
    }
  }

  @Test
  void whileTheOrderIsNotBehindThePolicyHadMadeNoRoom() {
    put(0, PolicyCache.CHANGES_MAXIMUM / 2);
    assertThat(room.evict(1)).isPositive();
    assertThat(lines).singleElement().asString().contains("had made no room");
  }

  @Test
  void ifTooManyChangesWaitTheOrderIsBehind() {
    put(0, PolicyCache.CHANGES_MAXIMUM / 4 * 3);
    assertThat(room.evict(1)).isPositive();
    assertThat(lines).singleElement().asString().contains("is behind");
  }

  @Test
  void afterAFailureThatIsTheReasonUntilTheMaintenanceWorks() {
    put(0, PolicyCache.CHANGES_MAXIMUM / 4 * 3);
    room.failed(new IllegalStateException("thrown by the test"));
    assertThat(room.evict(1)).isPositive();
    assertThat(lines).singleElement().asString().contains("order failed", "thrown by the test");
    room.worked();
    assertThat(room.evict(1)).isPositive();
    assertThat(lines).hasSize(2).last().asString().contains("is behind");
    assertThat(room.failures()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whicheverThePolicyTheLeastRecentlyUsedLeaves(boolean isFailed) {
    put(0, 8);
    for (int number = 0; number < 8; number++) {
      for (int hits = number; hits < 8; hits++) {
        Objects.requireNonNull(cache.peek(key(number))).at(0).countHit(100 + number);
      }
    }
    if (isFailed) {
      room.failed(new IllegalStateException("thrown by the test"));
    } else {
      while (!cache.isBehind()) {
        cache.compute(key(0), (key, same) -> same);
      }
    }
    for (int number = 0; number < 8; number++) {
      assertThat(cache.peek(key(number))).isNotNull();
      assertThat(room.evict(1)).isPositive();
      assertThat(cache.peek(key(number))).isNull();
    }
    assertThat(lines)
        .singleElement()
        .asString()
        .contains("evicting by LRU, from samples, because", isFailed ? "failed" : "is behind");
  }

  @Test
  void eachReasonIsSaidOnce() {
    put(0, 100);
    for (int i = 0; i < 3; i++) {
      assertThat(room.evict(1)).isPositive();
      room.failed(new IllegalStateException("thrown by the test"));
      assertThat(room.evict(1)).isPositive();
      room.worked();
    }
    assertThat(lines).hasSize(2);
    assertThat(room.failures()).isEqualTo(3);
    assertThat(room.fallbackEvictions()).isEqualTo(6).isEqualTo(room.evictions());
  }
}
