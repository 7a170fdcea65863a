package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.FactsCodec;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.ReuseRules;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.loop.WallClock;
import io.kamille.core.socket.Descriptors;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one process writes down of its memory, and another reads. */
class MemoryKeeperTest {

  private static final long CAPACITY = 80L << 20;
  private static final String URI = "http://example.org/";

  private final Arena arena = Arena.openSendable(CAPACITY);
  private final TieredStore store =
      new TieredStore(
          arena,
          TestIndexes.inCaller(
              TieredStore.indexCapacityBytes(CAPACITY), PolicyChoice.LRU, WallClock.system()),
          new PurgeTable(),
          null);

  @AfterEach
  void close() {
    store.clear();
    arena.close();
  }

  private static StoredFacts facts(String entityTag) {
    Freshness freshness = new Freshness(60, Freshness.Source.values()[0]);
    ReuseRules rules = new ReuseRules(200, freshness, false, false, false, false, 0, 0, 0);
    return new StoredFacts(rules.shared(), 1000, 0, 1000, entityTag, null, -1, Tags.NONE);
  }

  private static int factsLength(EncodedHead head, String entityTag) {
    return FactsCodec.encode(new StoredHead(head, facts(entityTag), SelectingFields.NONE, false))
        .length;
  }

  /** Stores a response whose head, and what is known of it, are so long. */
  private void put(int number, int headLength, int factsLength) {
    EncodedHead head = new EncodedHead(200, URI.length(), headLength, null);
    String entityTag = "x".repeat(factsLength - factsLength(head, ""));
    assertThat(factsLength(head, entityTag)).isEqualTo(factsLength);
    byte[] octets = new byte[headLength + 10];
    Arrays.fill(octets, (byte) number);
    Reservation reservation = Objects.requireNonNull(store.reserve(octets.length, 0));
    assertThat(reservation.append(Unpooled.wrappedBuffer(octets))).isTrue();
    CacheKey key = CacheKey.of(number, number);
    store
        .commitUnlessPurged(
            key,
            reservation,
            store.moment(key),
            null,
            all -> StoredResponse.of(head, all, facts(entityTag), SelectingFields.NONE))
        .release();
  }

  /** What the next process has, by its first half: the length of the head. */
  private Map<Long, Integer> takenOver() throws IOException {
    try (MemoryKeeper keeper = Objects.requireNonNull(MemoryKeeper.give(arena, store))) {
      KeptMemory memory =
          new KeptMemory(
              Descriptors.copyOf(keeper.memory().arena()),
              Descriptors.copyOf(keeper.memory().manifest()));
      KeptResponses taken = Objects.requireNonNull(KeptResponses.take(memory, CAPACITY));
      Map<Long, Integer> lengths = new HashMap<>();
      for (Map.Entry<CacheKey, Variants> entry : taken.responses().entrySet()) {
        StoredResponse response = entry.getValue().at(0);
        byte[] octets = new byte[10];
        response.content().copyTo(response.contentOffset(), octets, 0, 10);
        assertThat(octets).containsOnly((byte) entry.getKey().low());
        lengths.put(entry.getKey().high(), response.headLength());
      }
      taken.responses().values().forEach(variants -> variants.releaseExcept(null));
      taken.arena().close();
      return lengths;
    }
  }

  @Test
  void whatIsTooLongForTheListIsLeftOutAndAllElseIsTakenOver() throws IOException {
    int mostHead = 16 << 20;
    int mostFacts = 1 << 20;
    put(1, 100, 200);
    put(2, mostHead, 200);
    put(3, mostHead + 1, 200);
    put(4, 100, mostFacts);
    put(5, 100, mostFacts + 1);
    put(6, mostHead + (8 << 20), 200);
    put(7, 100, 3 * mostFacts);
    put(8, 200, 200);
    assertThat(IntStream.rangeClosed(1, 8))
        .allMatch(number -> store.peek(CacheKey.of(number, number)) != null);
    assertThat(takenOver())
        .containsExactlyInAnyOrderEntriesOf(Map.of(1L, 100, 2L, mostHead, 4L, 100, 8L, 200));
  }
}
