package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.cache.semantics.CachePolicy;
import io.kamille.cache.semantics.SelectingFields;
import io.kamille.cache.semantics.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EntryTableTest {

  private final EntryTable table = new EntryTable();
  private final Arena arena = Arena.open(1 << 20);
  private final StoredResponse response = response(arena);

  @AfterEach
  void close() {
    response.release();
    arena.close();
  }

  private static StoredResponse response(Arena arena) {
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode("http://example.org/", ResponseHead.of(200), octets);
    StoredBytes bytes = Objects.requireNonNull(arena.store(octets, 0));
    StoredFacts facts = StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0);
    return StoredResponse.of(encoded, bytes, facts, SelectingFields.NONE);
  }

  @Test
  void findsExactlyWhatWasAddedAndNotRemovedWhateverTheOrder() {
    Random random = new Random(20261122);
    Map<Integer, Entry> expected = new HashMap<>();
    for (int i = 0; i < 200_000; i++) {
      int number = random.nextInt(3_000);
      Entry present = expected.remove(number);
      if (present == null) {
        Entry entry = new Entry(key(number), response);
        table.add(entry);
        expected.put(number, entry);
      } else {
        table.remove(present);
      }
      int other = random.nextInt(3_000);
      assertThat(table.find(key(other))).isSameAs(expected.get(other));
    }
    assertThat(table.size()).isEqualTo(expected.size());
    assertThat(all()).isEqualTo(new HashSet<>(expected.values()));
  }

  @Test
  void keysThatDifferInOneHalfOnlyAreDifferentKeys() {
    Entry entry = new Entry(CacheKey.of(1, 2), response);
    table.add(entry);
    assertThat(table.find(CacheKey.of(1, 2))).isSameAs(entry);
    assertThat(table.find(CacheKey.of(1, 3))).isNull();
    assertThat(table.find(CacheKey.of(2, 2))).isNull();
  }

  @Test
  void whatMeetsInOnePlaceIsFoundAfterTheOthersHaveLeftInAnyOrder() {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      List<Entry> meeting = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        Entry entry = new Entry(CacheKey.of(0, i % 3 + (long) i * Integer.MAX_VALUE), response);
        table.add(entry);
        meeting.add(entry);
      }
      while (!meeting.isEmpty()) {
        table.remove(meeting.remove(random.nextInt(meeting.size())));
        for (Entry left : meeting) {
          assertThat(table.find(left.key())).isSameAs(left);
        }
      }
    }
    assertThat(table.size()).isZero();
  }

  @Test
  void readersFindWhatStaysWhileOthersComeAndGoAroundIt() throws Exception {
    List<Entry> staying = new ArrayList<>();
    for (int i = 0; i < 2_000; i += 2) {
      Entry entry = new Entry(key(i), response);
      table.add(entry);
      staying.add(entry);
    }
    AtomicBoolean isOver = new AtomicBoolean();
    CountDownLatch reading = new CountDownLatch(1);
    ExecutorService reader = Executors.newSingleThreadExecutor();
    try {
      Future<Long> misses = reader.submit(() -> misses(staying, isOver, reading));
      assertThat(reading.await(60, TimeUnit.SECONDS)).isTrue();
      Random random = new Random(3);
      Map<Integer, Entry> passing = new HashMap<>();
      for (int i = 0; i < 400_000; i++) {
        int number = 2 * random.nextInt(1_000) + 1;
        Entry present = passing.remove(number);
        if (present == null) {
          present = new Entry(key(number), response);
          passing.put(number, present);
          table.add(present);
        } else {
          table.remove(present);
        }
      }
      isOver.set(true);
      assertThat(misses.get(60, TimeUnit.SECONDS)).isLessThan(5);
    } finally {
      isOver.set(true);
      reader.shutdownNow();
    }
  }

  /** How often something that is there was not found. */
  private long misses(List<Entry> staying, AtomicBoolean isOver, CountDownLatch reading) {
    long misses = 0;
    while (!isOver.get()) {
      for (Entry entry : staying) {
        Entry found = table.find(entry.key());
        assertThat(found == null || found == entry).isTrue();
        misses += found == null ? 1 : 0;
      }
      reading.countDown();
    }
    return misses;
  }

  private Set<Entry> all() {
    Set<Entry> all = new HashSet<>();
    for (int part = 0; part < EntryTable.PARTS; part++) {
      all.addAll(List.of(table.part(part)));
    }
    return all;
  }

  private static CacheKey key(int number) {
    return CacheKey.of(number % 5, number);
  }
}
