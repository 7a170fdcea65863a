package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.Disk;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.RecordSink;
import io.kamille.cache.disk.StoredHead;
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
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory and disk keep step, whoever stores, removes, writes and reads back at the same time. */
class DiskCopiesTest {

  private static final long NOW = 1_800_000_000;
  private static final int OWNERS = 2;
  private static final int KEYS_OF_OWNER = 3;
  private static final int STEPS = 1500;
  private static final long CAPACITY = 4 << 20;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Arena arena = Arena.open(CAPACITY);
  private final MemoryIndex index =
      TestIndexes.inCaller(
          Store.indexCapacityBytes(CAPACITY), PolicyChoice.LRU, WallClock.system());
  private final List<CacheKey> keys = new ArrayList<>();
  private final ConcurrentLinkedQueue<Throwable> troubles = new ConcurrentLinkedQueue<>();

  /** By key: responses of smaller versions must not be met any more. */
  private final AtomicIntegerArray least = new AtomicIntegerArray(OWNERS * KEYS_OF_OWNER);

  private final LongAdder promoted = new LongAdder();

  @Test
  void nobodyMeetsWhatWasReplacedOrRemovedBefore(@TempDir Path directory) throws Exception {
    for (int i = 0; i < OWNERS * KEYS_OF_OWNER; i++) {
      keys.add(CacheKey.of(RequestHead.of("GET", "http://example.org/" + i)));
    }
    DiskTier disk = open(directory);
    DiskCopies copies =
        new DiskCopies(
            disk,
            DiskCopies.Admission.ALWAYS,
            new PeakWatch(PeakChoice.AUTO, () -> 0, WallClock.system()));
    Store store = new Store(arena, index, new PurgeTable(), copies);
    List<Thread> owners = new ArrayList<>();
    for (int i = 0; i < OWNERS; i++) {
      int first = i * KEYS_OF_OWNER;
      owners.add(Thread.ofPlatform().start(() -> trying(() -> own(store, first))));
    }
    AtomicBoolean isOver = new AtomicBoolean();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      int seed = i;
      readers.add(Thread.ofPlatform().start(() -> trying(() -> read(store, copies, seed, isOver))));
    }
    join(owners);
    isOver.set(true);
    join(readers);
    assertThat(troubles).isEmpty();
    awaitEmptyQueue(store);
    aCopyIsReadBack(store, copies);
    disk.close();
    store.close();
    arena.close();
  }

  private static void awaitEmptyQueue(Store store) throws InterruptedException {
    CountDownLatch isEmpty = new CountDownLatch(1);
    store.whenKept(isEmpty::countDown);
    assertThat(isEmpty.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private void aCopyIsReadBack(Store store, DiskCopies copies) {
    CacheKey key = keys.getFirst();
    store.remove(key);
    commit(store, key, STEPS + 1);
    long start = System.nanoTime();
    while (store.copies(key) == 0) {
      assertThat(System.nanoTime() - start).isLessThan(PATIENCE_NANOS);
      LockSupport.parkNanos(1_000_000);
    }
    index.evict(CAPACITY);
    long before = promoted.sum();
    promote(store, copies, key, STEPS + 1);
    assertThat(promoted.sum()).isEqualTo(before + 1);
  }

  private static DiskTier open(Path directory) throws IOException {
    return DiskTier.open(Disk.ofSystem(), directory.resolve("store"), 64 << 20, 1 << 20);
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void trying(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | AssertionError trouble) {
      troubles.add(trouble);
    }
  }

  /** Stores newer and newer versions under keys of its own, and removes some. */
  private void own(Store store, int first) {
    Random random = new Random(first);
    for (int version = 1; version <= STEPS; version++) {
      int number = first + random.nextInt(KEYS_OF_OWNER);
      CacheKey key = keys.get(number);
      if (random.nextInt(4) == 0) {
        store.remove(key);
        least.set(number, version);
      } else {
        commit(store, key, version);
        least.set(number, version);
      }
      if (random.nextInt(3) == 0) {
        index.evict(CAPACITY);
      }
    }
  }

  private static void commit(Store store, CacheKey key, int version) {
    ResponseHead head = ResponseHead.of(200, "Cache-Control", "max-age=3600");
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode("http://example.org/", head, octets);
    octets.writeInt(version).writeZero(version % 700);
    Store.Moment before = store.moment(key);
    Reservation reservation = store.reserve(null, octets.readableBytes(), 0);
    if (reservation == null) {
      store.remove(key);
      return;
    }
    assertThat(reservation.append(octets)).isTrue();
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, NOW, NOW);
    store
        .put(
            key,
            reservation,
            before,
            null,
            all -> StoredResponse.of(encoded, all, facts, SelectingFields.NONE))
        .release();
  }

  /** Looks into memory and the disk until told to end. */
  private void read(Store store, DiskCopies copies, int seed, AtomicBoolean isOver) {
    Random random = new Random(seed);
    while (!isOver.get()) {
      int number = random.nextInt(keys.size());
      CacheKey key = keys.get(number);
      int allowed = least.get(number);
      Variants variants = store.find(key);
      if (variants == null) {
        promote(store, copies, key, allowed);
      } else if (variants.at(0).tryRetain()) {
        check(variants.at(0), allowed);
        store.asked(key, variants.at(0), NOW);
        variants.at(0).release();
      }
    }
  }

  private void promote(Store store, DiskCopies copies, CacheKey key, int allowed) {
    long changes = store.changes(key);
    for (Extent extent : copies.disk().find(key)) {
      Sink sink = new Sink(store);
      StoredResponse response =
          copies.disk().read(key, extent, sink) ? sink.complete(key, changes) : null;
      sink.abandon();
      if (response != null) {
        promoted.increment();
        check(response, allowed);
        response.release();
      }
    }
  }

  /** Needs a lease. */
  private static void check(StoredResponse response, int allowed) {
    byte[] octets = new byte[4];
    response.content().copyTo(response.contentOffset(), octets, 0, 4);
    assertThat(Unpooled.wrappedBuffer(octets).readInt()).isGreaterThanOrEqualTo(allowed);
  }

  private static final class Sink implements RecordSink {

    private final Store store;
    private @Nullable Reservation reservation;
    private @Nullable StoredHead head;
    private long sequence;

    Sink(Store store) {
      this.store = store;
    }

    @Override
    public boolean begin(StoredHead head, long sequence, int contentLength) {
      this.head = head;
      this.sequence = sequence;
      reservation = store.reserve(null, (long) head.encoded().length() + contentLength, 1);
      return reservation != null;
    }

    @Override
    public boolean append(ByteBuf octets) {
      return reservation != null && reservation.append(octets);
    }

    @Nullable StoredResponse complete(CacheKey key, long changes) {
      Reservation complete = reservation;
      StoredHead from = head;
      if (complete == null || from == null) {
        return null;
      }
      reservation = null;
      return store.promote(
          key,
          complete,
          changes,
          sequence,
          all -> StoredResponse.of(from.encoded(), all, from.facts(), from.selecting()));
    }

    void abandon() {
      if (reservation != null) {
        reservation.abandon();
      }
    }
  }
}
