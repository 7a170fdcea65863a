package io.kamille.cache.removal;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a sweep does, run by hand, one step at a time. */
class SweeperTest {

  private static final String URI = "http://example.org/page";
  private static final CacheKey KEY = CacheKey.of(RequestHead.of("GET", URI));

  private final PurgeFixture fixture = new PurgeFixture();
  private final Store store = fixture.store;

  @AfterEach
  void close() {
    fixture.close();
  }

  /** Stores a response with that tag, as of that moment. */
  private void put(String tag, Store.Moment moment) {
    put(KEY, tag, moment);
  }

  private void put(CacheKey key, String tag, Store.Moment moment) {
    ByteBuf octets = Unpooled.buffer();
    EncodedHead head = ResponseCodec.encode(URI, ResponseHead.of(200), octets);
    Reservation reservation =
        Objects.requireNonNull(store.reserve(null, octets.readableBytes(), 0));
    assertThat(reservation.append(octets)).isTrue();
    StoredFacts facts =
        StoredFacts.of(ResponseHead.of(200), CachePolicy.DEFAULT, 0, 0)
            .tagged(Tags.named(List.of(tag)));
    store
        .put(
            key,
            reservation,
            moment,
            null,
            stored -> StoredResponse.of(head, stored, facts, SelectingFields.NONE))
        .release();
  }

  private Purge purge(String... tags) {
    return fixture.removals.purgeNow(PurgeTarget.tags(List.of(tags)), false);
  }

  @Test
  void whatNobodyAsksForLeavesMemory() {
    put("a", store.moment(KEY));
    Purge purge = purge("a");
    assertThat(store.size()).isEqualTo(1);
    assertThat(purge.affected()).isZero();
    fixture.sweep();
    assertThat(store.size()).isZero();
    assertThat(purge.affected()).isEqualTo(1);
    assertThat(fixture.sweeper.sweptUpTo()).isEqualTo(purge.sequence());
  }

  @Test
  void manyPurgesAreOneSweep() {
    purge("a");
    purge("b");
    Purge last = purge("c");
    assertThat(fixture.waiting).hasSize(1);
    fixture.sweep();
    assertThat(fixture.sweeper.sweptUpTo()).isEqualTo(last.sequence());
    purge("d");
    assertThat(fixture.waiting).hasSize(1);
  }

  /** A cache of any size costs the same until ten seconds after a purge. */
  @Test
  void aWalkLooksAtSomeKeysAtOnceAndThenAtSoManyASecond() {
    int count = 2_048;
    for (int i = 0; i < count; i++) {
      put(CacheKey.of(RequestHead.of("GET", URI + i)), "a", store.moment(KEY));
    }
    assertThat(store.size()).isEqualTo(count);
    long begin = fixture.clock.nanos();
    for (int walked = 0; walked < Sweeper.AT_ONCE + 2 * Sweeper.A_SECOND; walked += count) {
      Purge other = purge("b");
      fixture.sweep();
      assertThat(fixture.sweeper.sweptUpTo()).isEqualTo(other.sequence());
      boolean isAtOnce = walked + count <= Sweeper.AT_ONCE;
      assertThat(fixture.clock.nanos() - begin == 0).isEqualTo(isAtOnce);
    }
    assertThat(Duration.ofNanos(fixture.clock.nanos() - begin))
        .isBetween(Duration.ofMillis(1_900), Duration.ofMillis(2_100));
  }

  @Test
  void aPurgeThatComesWhileASweepWaitsIsPartOfIt() {
    put("a", store.moment(KEY));
    purge("b");
    Purge purge = purge("a");
    fixture.waiting.remove().run();
    assertThat(purge.affected()).isEqualTo(1);
    assertThat(fixture.waiting).isEmpty();
  }

  @Test
  void aCountChangesNothing() {
    put("a", store.moment(KEY));
    long[] counted = {-1};
    fixture.sweeper.count(PurgeTarget.tags(List.of("a")), count -> counted[0] = count);
    fixture.sweeper.count(PurgeTarget.tags(List.of("b")), count -> assertThat(count).isZero());
    fixture.sweep();
    assertThat(counted[0]).isEqualTo(1);
    assertThat(store.find(KEY)).isNotNull();
  }
}
