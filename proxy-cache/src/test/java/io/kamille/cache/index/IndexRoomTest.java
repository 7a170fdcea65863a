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

/** Why an index evicts by LRU itself, where nobody brings its order up to date. */
class IndexRoomTest {

  private static final long CAPACITY_UNITS = 1 << 20;

  private final Arena arena = Arena.open(16 << 20);
  private final Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
  private final PolicyCache<CacheKey, Variants> cache =
      new PolicyCache<>(
          Policy.TINYLFU, CAPACITY_UNITS, IndexRoom::units, variants -> 0, evicted::add, () -> {});
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

  private void put(int number) {
    String uri = "http://example.org/" + number;
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
    cache.compute(Objects.requireNonNull(CacheKey.find(uri)), (key, before) -> response);
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
