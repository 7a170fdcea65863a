package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.memory.PassedFile;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.tiers.KeptMemory;
import io.kamille.cache.tiers.MemorySource;
import io.kamille.core.Await;
import io.kamille.core.socket.Descriptors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one cache has in memory and another takes over, as two processes do in an upgrade. */
class MemoryHandoverTest {

  private static final long CAPACITY = 4 << 20;
  private static final String[] FRESH = {"Cache-Control", "max-age=3600", "Surrogate-Key", "news"};

  private final CacheFixture before = new CacheFixture(CAPACITY, MemorySource.kept(null));
  private final Removals removals = new Removals();

  @AfterEach
  void end() {
    before.cache.operations().clear();
    before.cache.close();
  }

  private KeptMemory give() {
    before.cache.handover().release(removals);
    KeptMemory given = Objects.requireNonNull(before.cache.handover().giveMemory());
    return new KeptMemory(Descriptors.copyOf(given.arena()), Descriptors.copyOf(given.manifest()));
  }

  private static CacheFixture take(KeptMemory memory) {
    return new CacheFixture(CAPACITY, MemorySource.kept(memory));
  }

  private static void end(CacheFixture after) {
    after.run();
    after.cache.operations().clear();
    after.cache.close();
  }

  @Test
  void theOtherServesWhatWasStored() {
    before.fill(200, "hello", FRESH);
    CacheFixture after = take(give());
    assertThat(after.get().text()).isEqualTo("hello");
    assertThat(after.forwarded()).isZero();
    assertThat(before.isReused()).isTrue();
    end(after);
  }

  @Test
  void aFreshenedResponseIsTakenOverWithItsContent() {
    before.fill(200, "hello", "Cache-Control", "max-age=10", "ETag", "\"a\"");
    before.advance(20);
    before.get();
    before.origin.last().respond(304, "", "Cache-Control", "max-age=3600", "ETag", "\"a\"");
    before.run();
    CacheFixture after = take(give());
    assertThat(after.get().text()).isEqualTo("hello");
    assertThat(after.forwarded()).isZero();
    end(after);
  }

  @Test
  void variantsAreTakenOver() {
    String[] vary = {"Cache-Control", "max-age=3600", "Vary", "Accept-Language"};
    before.fill(new String[] {"Accept-Language", "de"}, 200, "hallo", vary);
    before.fill(new String[] {"Accept-Language", "en"}, 200, "hello", vary);
    CacheFixture after = take(give());
    assertThat(after.get("Accept-Language", "de").text()).isEqualTo("hallo");
    assertThat(after.get("Accept-Language", "en").text()).isEqualTo("hello");
    assertThat(after.forwarded()).isZero();
    end(after);
  }

  @Test
  void bothFillOnAfterwardsOrServeOnWithoutStoring() {
    before.fill(200, "hello", FRESH);
    CacheFixture after = take(give());
    before.send("GET", CacheFixture.URI + "/other");
    before.origin.last().respond(200, "other", FRESH);
    before.run();
    before.send("GET", CacheFixture.URI + "/other");
    assertThat(before.forwarded()).isEqualTo(3);
    before.origin.last().respond(200, "other", FRESH);
    before.run();
    after.send("GET", CacheFixture.URI + "/other");
    after.origin.last().respond(200, "other", FRESH);
    after.run();
    assertThat(after.send("GET", CacheFixture.URI + "/other").text()).isEqualTo("other");
    assertThat(after.forwarded()).isEqualTo(1);
    assertThat(before.get().text()).isEqualTo("hello");
    end(after);
  }

  @Test
  void whatIsPurgedBeforeOrAfterwardsIsNotServed() {
    before.fill(200, "hello", FRESH);
    before.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
    CacheFixture after = take(give());
    assertThat(after.isReused()).isFalse();
    end(after);
  }

  @Test
  void whatIsPurgedMeanwhileIsPurgedInBoth() {
    before.fill(200, "hello", FRESH);
    KeptMemory memory = give();
    before.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
    CacheFixture after = take(memory);
    assertThat(removals.told).isNotEmpty();
    removals.playTo(after.cache.handover().follower());
    assertThat(after.isReused()).isFalse();
    assertThat(before.isReused()).isFalse();
    end(after);
  }

  @Test
  void whatWasOnItsWayTakesThePlaceInTheOtherToo() {
    before.fill(200, "older", "Cache-Control", "max-age=10");
    before.advance(20);
    before.get();
    before.origin.last().head(200, 5, FRESH).write("new");
    KeptMemory memory = give();
    before.origin.last().write("er").end();
    before.run();
    CacheFixture after = take(memory);
    removals.playTo(after.cache.handover().follower());
    assertThat(after.isReused()).isFalse();
    end(after);
  }

  @Test
  void whoGaveItAwayStoresAgainOnceTheOtherIsGone() throws IOException {
    before.fill(200, "hello", FRESH);
    end(take(give()));
    before.cache.handover().takeBack(listener -> {});
    assertThat(before.get().text()).isEqualTo("hello");
    Await.until(
        () -> before.counted("kamille_cache_memory_used_bytes") < CAPACITY / 2, "free memory");
    before.send("GET", CacheFixture.URI + "/other");
    before.origin.last().respond(200, "other", FRESH);
    before.run();
    assertThat(before.send("GET", CacheFixture.URI + "/other").text()).isEqualTo("other");
    assertThat(before.forwarded()).isEqualTo(2);
  }

  @Test
  void memoryGoesOnToAThird() {
    before.fill(200, "hello", FRESH);
    CacheFixture second = take(give());
    second.cache.handover().release(removals);
    KeptMemory given = Objects.requireNonNull(second.cache.handover().giveMemory());
    CacheFixture third =
        take(
            new KeptMemory(
                Descriptors.copyOf(given.arena()), Descriptors.copyOf(given.manifest())));
    assertThat(third.get().text()).isEqualTo("hello");
    end(second);
    assertThat(third.get().text()).isEqualTo("hello");
    end(third);
  }

  @Test
  void anotherCapacityStartsEmpty() {
    before.fill(200, "hello", FRESH);
    CacheFixture after = new CacheFixture(2 * CAPACITY, MemorySource.kept(give()));
    assertThat(after.isReused()).isFalse();
    end(after);
  }

  /** Does something to the manifest, and sees that the cache starts empty. */
  private void damaged(Damage damage) throws IOException {
    before.fill(200, "hello", FRESH);
    KeptMemory memory = give();
    try (PassedFile file = PassedFile.of(Descriptors.copyOf(memory.manifest()))) {
      damage.to(file.channel());
    }
    CacheFixture after = take(memory);
    assertThat(after.isReused()).isFalse();
    end(after);
  }

  private interface Damage {
    void to(FileChannel manifest) throws IOException;
  }

  @Test
  void aShortManifestStartsEmpty() throws IOException {
    damaged(manifest -> manifest.truncate(manifest.size() - 1));
  }

  @Test
  void anEmptyManifestStartsEmpty() throws IOException {
    damaged(manifest -> manifest.truncate(0));
  }

  @Test
  void aManifestWithoutItsHeadStartsEmpty() throws IOException {
    damaged(manifest -> manifest.write(ByteBuffer.allocate(84), 0));
  }

  @Test
  void aManifestWithAnotherOctetStartsEmpty() throws IOException {
    damaged(manifest -> manifest.write(ByteBuffer.wrap(new byte[] {77}), manifest.size() - 3));
  }

  @Test
  void aManifestOfAnotherVersionStartsEmpty() throws IOException {
    damaged(manifest -> manifest.write(ByteBuffer.wrap(new byte[] {99}), 11));
  }

  @Test
  void anArenaThatIsAnotherFileStartsEmpty() throws IOException {
    before.fill(200, "hello", FRESH);
    KeptMemory memory = give();
    try (CacheFixture other = new CacheFixture(CAPACITY, MemorySource.kept(null));
        memory) {
      other.cache.handover().release(removals);
      KeptMemory others = Objects.requireNonNull(other.cache.handover().giveMemory());
      CacheFixture after =
          take(
              new KeptMemory(
                  Descriptors.copyOf(others.arena()), Descriptors.copyOf(memory.manifest())));
      assertThat(after.isReused()).isFalse();
      end(after);
      other.cache.handover().takeBack(listener -> {});
    }
  }
}
