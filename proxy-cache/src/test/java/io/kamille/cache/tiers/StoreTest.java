package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreTest {

  private static final int CAPACITY = 1 << 20;

  private final Arena arena = Arena.open(CAPACITY);
  private final Store store =
      new Store(
          arena,
          TestIndexes.inCaller(
              Store.indexCapacityBytes(CAPACITY), PolicyChoice.AUTO, WallClock.system()),
          new PurgeTable(),
          null);

  @AfterEach
  void everyLeaseHasEnded() {
    store.clear();
    arena.close();
  }

  private static String uri(int number) {
    return "http://example.org/" + number;
  }

  private static CacheKey key(int number) {
    return CacheKey.of(RequestHead.of("GET", uri(number)));
  }

  private Reservation written(int number, int contentLength) {
    ByteBuf octets = Unpooled.buffer();
    encode(number, octets);
    Reservation reservation =
        Objects.requireNonNull(store.reserve(null, octets.readableBytes() + contentLength, 0));
    assertThat(reservation.append(octets)).isTrue();
    assertThat(reservation.append(Unpooled.wrappedBuffer(new byte[contentLength]))).isTrue();
    return reservation;
  }

  private static EncodedHead encode(int number, ByteBuf octets) {
    return ResponseCodec.encode(uri(number), ResponseHead.of(200, "A", "1"), octets);
  }

  private StoredResponse commit(int number, Reservation reservation, Store.Moment before) {
    return commit(store, number, reservation, before);
  }

  private static StoredResponse commit(
      Store store, int number, Reservation reservation, Store.Moment before) {
    return commit(store, number, encode(number, Unpooled.buffer()), reservation, before);
  }

  private static StoredResponse commit(
      Store store, int number, EncodedHead head, Reservation reservation, Store.Moment before) {
    StoredFacts facts = StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0);
    return store.put(
        key(number),
        reservation,
        before,
        null,
        octets -> StoredResponse.of(head, octets, facts, SelectingFields.NONE));
  }

  private void put(int number, int contentLength) {
    commit(number, written(number, contentLength), store.moment(key(number))).release();
  }

  @Test
  void whatIsCommittedIsFoundByAnEqualKey() {
    put(1, 1000);
    Variants found = Objects.requireNonNull(store.find(key(1)));
    StoredResponse response =
        Objects.requireNonNull(found.select(RequestHead.of("GET", uri(1)), 0));
    assertThat(response.contentLength()).isEqualTo(1000);
    assertThat(response.uri()).isEqualTo(uri(1));
    assertThat(response.head().fields().toString()).isEqualTo("A: 1\n");
    assertThat(store.find(key(2))).isNull();
  }

  @Test
  void aNewResponseTakesThePlaceOfTheOld() {
    put(1, 1000);
    put(1, 2000);
    assertThat(store.size()).isEqualTo(1);
    assertThat(store.usedBytes()).isLessThan(2500);
    assertThat(store.remove(key(1))).isEqualTo(1);
    assertThat(store.usedBytes()).isZero();
  }

  @Test
  void aFillThatBeganBeforeARemovalIsNotFound() {
    Store.Moment before = store.moment(key(1));
    Reservation reservation = written(1, 1000);
    store.remove(key(1));
    StoredResponse response = commit(1, reservation, before);
    assertThat(store.find(key(1))).isNull();
    assertThat(response.contentLength()).isEqualTo(1000);
    response.release();
  }

  @Test
  void aFillThatBeganBeforeEverythingWasRemovedIsNotFound() {
    Store.Moment before = store.moment(key(1));
    Reservation reservation = written(1, 1000);
    store.clear();
    commit(1, reservation, before).release();
    assertThat(store.find(key(1))).isNull();
  }

  @Test
  void whatIsReadStaysUntilItsLeaseEnds() {
    put(1, 1000);
    StoredResponse read = Objects.requireNonNull(store.find(key(1))).at(0);
    assertThat(read.tryRetain()).isTrue();
    store.remove(key(1));
    assertThat(store.usedBytes()).isPositive();
    read.release();
    assertThat(store.usedBytes()).isZero();
    assertThat(read.tryRetain()).isFalse();
  }

  @Test
  void aReservationMakesRoomAndNoMore() {
    for (int i = 0; i < 90; i++) {
      put(i, 10_000);
    }
    long before = store.size();
    Reservation reservation = Objects.requireNonNull(store.reserve(null, 300_000, 0));
    assertThat(store.size()).isBetween(before - 40, before - 10);
    reservation.abandon();
  }

  @Test
  void whatIsLargerThanTheArenaEvictsNothing() {
    put(1, 1000);
    assertThat(store.reserve(null, CAPACITY + 1L, 0)).isNull();
    assertThat(store.size()).isEqualTo(1);
  }

  @Test
  void aWriterWithoutLengthMakesRoomAsItGoes() {
    for (int i = 0; i < 90; i++) {
      put(i, 10_000);
    }
    Reservation reservation = Objects.requireNonNull(store.reserve(null, 0, 0));
    for (int i = 0; i < 50; i++) {
      assertThat(reservation.append(Unpooled.wrappedBuffer(new byte[10_000]))).isTrue();
    }
    assertThat(reservation.length()).isEqualTo(500_000);
    reservation.abandon();
  }

  @Test
  void aLargeResponsePushesOutManySmallOnesOnlyIfItIsAskedForAgainAndAgain() {
    store.index().choose(PolicyChoice.LRU);
    for (int i = 0; i < 90; i++) {
      put(i, 10_000);
    }
    int refusals = 0;
    while (!store.pays(key(1000), 300_000)) {
      refusals++;
      assertThat(refusals).isLessThanOrEqualTo(3);
    }
    assertThat(refusals).isPositive();
    assertThat(store.size()).isEqualTo(90);
    Objects.requireNonNull(store.reserve(key(1000), 300_000, 0)).abandon();
    assertThat(store.size()).isLessThan(90);
  }

  @Test
  void aLargeResponseOfUnknownLengthIsRefusedWhenItTurnsOutLarge() {
    store.index().choose(PolicyChoice.LRU);
    for (int i = 0; i < 90; i++) {
      put(i, 10_000);
    }
    Reservation reservation = Objects.requireNonNull(store.reserve(key(1000), 0, 0));
    ByteBuf piece = Unpooled.wrappedBuffer(new byte[10_000]);
    while (reservation.append(piece)) {
      assertThat(reservation.length()).isLessThan(300_000);
    }
    assertThat(reservation.isOutweighed()).isTrue();
    reservation.abandon();
    assertThat(store.size()).isEqualTo(90);
  }

  @Test
  void theIndexNeverTakesTheWholeArena() {
    for (int i = 0; i < 5000; i++) {
      put(i, 1000);
    }
    assertThat(store.usedBytes()).isLessThan(Store.indexCapacityBytes(CAPACITY));
    assertThat(store.index().evictions()).isPositive();
  }

  @Test
  void whatTheIndexLeavesFreeGrowsWithTheCapacity() {
    for (long gibibytes = 1; gibibytes <= 64; gibibytes *= 2) {
      long capacity = gibibytes << 30;
      assertThat(capacity - Store.indexCapacityBytes(capacity))
          .as("%d GiB", gibibytes)
          .isGreaterThan(Arena.headroomBytes(capacity));
    }
  }

  @Test
  void aSoftPurgeKeepsTheCopyOnTheDiskUnlessItRemovesIt() {
    PurgeTable purges = new PurgeTable();
    Store soft =
        new Store(
            arena,
            TestIndexes.inCaller(
                Store.indexCapacityBytes(CAPACITY), PolicyChoice.LRU, WallClock.system()),
            purges,
            null);
    ByteBuf octets = Unpooled.buffer();
    EncodedHead head = encode(1, octets);
    Reservation reservation = Objects.requireNonNull(soft.reserve(null, octets.readableBytes(), 0));
    assertThat(reservation.append(octets)).isTrue();
    ResponseHead fresh = ResponseHead.of(200, "Cache-Control", "max-age=60");
    StoredFacts facts = StoredFacts.of(fresh, CachePolicy.DEFAULT, 0, 0);
    StoredResponse response =
        soft.put(
            key(1),
            reservation,
            soft.moment(key(1)),
            null,
            stored -> StoredResponse.of(head, stored, facts, SelectingFields.NONE));
    assertThat(response.claimCopy()).isTrue();
    response.release();
    purges.purge(PurgeTarget.all(), true, 0);
    StoredResponse stale = Objects.requireNonNull(soft.find(key(1))).at(0);
    assertThat(stale.facts().isFresh(1)).isFalse();
    assertThat(stale.isCopied()).isTrue();
    soft.soften(key(1), new Purge(0, PurgeTarget.all(), true, 0));
    assertThat(Objects.requireNonNull(soft.find(key(1))).at(0).isCopied()).isFalse();
    soft.clear();
  }

  @Test
  void aSweepThatRemovesMuchLeavesRoomForWhatIsStoredMeanwhile() {
    PurgeTable purges = new PurgeTable();
    try (Arena large = Arena.open(64 << 20)) {
      MemoryIndex late = TestIndexes.late(32 << 20, WallClock.system());
      Store swept = new Store(large, late, purges, null);
      for (int i = 0; i < TestIndexes.MANY; i++) {
        put(swept, i);
      }
      assertThat(purges.purge(PurgeTarget.all(), false, 0)).isNotNull();
      swept.forEach(swept::sweep);
      assertThat(swept.size()).isZero();
      put(swept, 1);
      assertThat(late.refusals()).isZero();
      assertThat(swept.size()).isEqualTo(1);
      swept.clear();
    }
  }

  private static void put(Store store, int number) {
    Reservation reservation = Objects.requireNonNull(store.reserve(null, 100, 0));
    assertThat(reservation.append(Unpooled.wrappedBuffer(new byte[100]))).isTrue();
    commit(store, number, reservation, store.moment(key(number))).release();
  }

  @Test
  void whatCannotBeStoredForWantOfHeapLeavesNothingOlderInItsPlace() {
    var isHeapFull = new AtomicBoolean();
    Store scarce =
        new Store(
            arena,
            TestIndexes.inCaller(
                Store.indexCapacityBytes(CAPACITY),
                PolicyChoice.LRU,
                changeBytes -> changeBytes <= 0 || !isHeapFull.get(),
                WallClock.system()),
            new PurgeTable(),
            null);
    for (int number = 40; number > 0; number--) {
      Reservation reservation = written(number, 100);
      commit(scarce, number, reservation, scarce.moment(key(number))).release();
    }
    isHeapFull.set(true);
    EncodedHead larger = encode(1, Unpooled.buffer()).withCacheStatus("x".repeat(1000));
    commit(scarce, 1, larger, written(1, 200), scarce.moment(key(1))).release();
    assertThat(scarce.size()).isPositive();
    assertThat(scarce.find(key(1))).isNull();
    scarce.clear();
  }
}
