package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is counted is what the arena has given out, after every step, and never too much. */
class AccountingTest {

  private static final int CAPACITY = 2 << 20;
  private static final int GRANULE = 64;
  private static final int KEYS = 400;

  private final Arena arena = Arena.open(CAPACITY);
  private final MemoryIndex index =
      TestIndexes.inCaller(
          Store.indexCapacityBytes(CAPACITY),
          PolicyChoice.AUTO,
          arena::charge,
          ManualClock.atSeconds(1_800_000_000));
  private final Store store = new Store(arena, index, new PurgeTable(), null);
  private final List<Filling> fillings = new ArrayList<>();
  private final List<StoredResponse> leased = new ArrayList<>();

  private record Filling(
      int number, EncodedHead head, Reservation reservation, long announced, Store.Moment at) {

    long heldBytes() {
      return granules(Math.max(announced, reservation.length()));
    }
  }

  private static long granules(long length) {
    return Math.ceilDiv(length, GRANULE) * GRANULE;
  }

  @AfterEach
  void everythingIsGivenBack() {
    fillings.forEach(filling -> filling.reservation().abandon());
    leased.forEach(StoredResponse::release);
    store.clear();
    assertThat(store.memory())
        .isEqualTo(new MemorySnapshot(arena.capacityBytes(), 0, 0, 0, 0, 0, 0, arena.pageBytes()));
    assertThat(arena.usedBytes()).isZero();
    arena.close();
  }

  private static CacheKey key(int number) {
    return Objects.requireNonNull(CacheKey.find(uri(number)));
  }

  private static String uri(int number) {
    return "http://example.org/" + number;
  }

  private void begin(int number, int contentLength) {
    Store.Moment before = store.moment(key(number));
    ByteBuf octets = Unpooled.buffer();
    EncodedHead head = ResponseCodec.encode(uri(number), ResponseHead.of(200), octets);
    long announced = octets.readableBytes() + (long) contentLength;
    Reservation reservation = store.reserve(key(number), announced, 0);
    if (reservation != null) {
      assertThat(reservation.append(octets)).isTrue();
      fillings.add(new Filling(number, head, reservation, announced, before));
    }
  }

  private static void go(Filling filling, int most) {
    long left = filling.announced() - filling.reservation().length();
    byte[] content = new byte[(int) Math.min(left, most)];
    assertThat(filling.reservation().append(Unpooled.wrappedBuffer(content))).isTrue();
  }

  private void commit(Filling filling, boolean isKept) {
    StoredFacts facts = StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0);
    StoredResponse response =
        store.put(
            key(filling.number()),
            filling.reservation(),
            filling.at(),
            null,
            octets -> StoredResponse.of(filling.head(), octets, facts, SelectingFields.NONE));
    if (isKept) {
      leased.add(response);
    } else {
      response.release();
    }
  }

  private void lease(int number) {
    Variants found = store.find(key(number));
    if (found != null && found.at(0).tryRetain()) {
      leased.add(found.at(0));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void everyStepIsCounted(long seed) {
    var random = new SplittableRandom(seed);
    for (int step = 0; step < 4000; step++) {
      step(random);
      check();
    }
    assertThat(store.index().evictions()).isPositive();
  }

  private void step(SplittableRandom random) {
    int number = random.nextInt(KEYS);
    switch (random.nextInt(16)) {
      case 0 -> store.remove(key(number));
      case 1 -> drop(random);
      case 2 -> drop(random);
      case 3 -> lease(number);
      case 4 -> abandon(random);
      case 5 -> begin(number, random.nextInt(100_000));
      case 6 -> index.choose(PolicyChoice.values()[random.nextInt(3)]);
      case 7, 8, 9, 10 -> begin(number, random.nextInt(10_000));
      case 11 -> fillings.stream().limit(1).forEach(filling -> go(filling, 5000));
      default -> finish(random);
    }
    if (random.nextInt(1000) == 0) {
      store.clear();
    }
  }

  private void drop(SplittableRandom random) {
    if (!leased.isEmpty()) {
      leased.remove(random.nextInt(leased.size())).release();
    }
  }

  private void abandon(SplittableRandom random) {
    if (!fillings.isEmpty()) {
      fillings.remove(random.nextInt(fillings.size())).reservation().abandon();
    }
  }

  private void finish(SplittableRandom random) {
    if (!fillings.isEmpty()) {
      Filling filling = fillings.remove(random.nextInt(fillings.size()));
      go(filling, random.nextInt(10) == 0 ? 100 : Integer.MAX_VALUE);
      commit(filling, random.nextInt(4) == 0);
    }
  }

  private void check() {
    IdentityHashMap<StoredResponse, Boolean> inIndex = new IdentityHashMap<>();
    store.forEach(
        (key, variants) -> {
          for (int i = 0; i < variants.size(); i++) {
            inIndex.put(variants.at(i), true);
          }
        });
    IdentityHashMap<StoredResponse, Boolean> onlyLeased = new IdentityHashMap<>();
    leased.stream()
        .filter(response -> !inIndex.containsKey(response))
        .forEach(response -> onlyLeased.put(response, true));
    MemorySnapshot memory = store.memory();
    assertThat(memory.storedBytes()).isEqualTo(occupied(inIndex));
    assertThat(memory.fillingBytes())
        .isEqualTo(fillings.stream().mapToLong(Filling::heldBytes).sum());
    assertThat(memory.leasedBytes()).isEqualTo(occupied(onlyLeased));
    assertThat(memory.indexBytes()).isEqualTo(index.heapBytes()).isEqualTo(256L * inIndex.size());
    assertThat(memory.usedBytes()).isEqualTo(arena.usedBytes()).isLessThanOrEqualTo(CAPACITY);
  }

  private static long occupied(IdentityHashMap<StoredResponse, Boolean> responses) {
    return responses.keySet().stream().mapToLong(StoredResponse::occupiedBytes).sum();
  }

  @Test
  void whatTheIndexTakesOnTheHeapIsPartOfTheCapacity() {
    for (int number = 0; number < 5000; number++) {
      begin(number, 100);
      commit(fillings.removeLast(), false);
      assertThat(arena.usedBytes()).isLessThanOrEqualTo(Store.indexCapacityBytes(CAPACITY));
    }
    assertThat(store.size()).isLessThan(CAPACITY / (256 + 128));
  }

  @Test
  void whatFindsNoRoomOnTheHeapIsNotStored() {
    begin(1, 100);
    Filling first = fillings.removeLast();
    Reservation all = Objects.requireNonNull(store.reserve(null, arena.freeBytes(), 0));
    commit(first, false);
    assertThat(store.find(key(1))).isNull();
    all.abandon();
  }
}
