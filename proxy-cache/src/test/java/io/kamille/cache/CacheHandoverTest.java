package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.core.Await;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two caches of which one has the disk, as two processes have them during an upgrade. */
class CacheHandoverTest {

  private static final String[] FRESH = {"Cache-Control", "max-age=3600", "Surrogate-Key", "news"};

  private @TempDir Path directory;
  private final Removals removals = new Removals();
  private CacheFixture before;

  @BeforeEach
  void begin() throws IOException {
    before = open();
    before.fill(200, "hello", FRESH);
    Await.until(() -> records(before) == 1);
  }

  @AfterEach
  void end() {
    before.close();
  }

  private CacheFixture open() throws IOException {
    var settings =
        Sections.copy(
                Sections.of(
                    DiskSettings.SECTION,
                    "{path: %s, capacity: 1GiB, keep-memory: off, admit: always}",
                    directory.resolve("store")))
            .with("sendFromBytes", Long.MAX_VALUE)
            .record();
    return new CacheFixture(4 << 20, settings, Runnable::run);
  }

  private static long records(CacheFixture fixture) {
    return fixture.counted("kamille_cache_disk_records");
  }

  private void release() {
    before.cache.handover().release(removals);
  }

  @Test
  void whoGaveTheDiskAwayServesFromMemoryAndTheOtherFromTheDisk() throws IOException {
    assertThatThrownBy(this::open).isInstanceOf(IOException.class);
    release();
    try (CacheFixture after = open()) {
      Await.until(() -> records(after) == 1);
      assertThat(before.isReused()).isTrue();
      assertThat(after.isReused()).isTrue();
      assertThat(before.counted("kamille_cache_disk_up")).isZero();
    }
  }

  @Test
  void whatOneRemovesTheOtherRemoves() throws IOException {
    release();
    try (CacheFixture after = open()) {
      Await.until(() -> records(after) == 1);
      before.cache.operations().purge(CacheFixture.URI);
      removals.playTo(after.cache.handover().follower());
      assertThat(after.isReused()).isFalse();
    }
  }

  @Test
  void whatOnePurgesByTagTheOtherPurges() throws IOException {
    release();
    try (CacheFixture after = open()) {
      Await.until(() -> records(after) == 1);
      before.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
      removals.playTo(after.cache.handover().follower());
      assertThat(after.isReused()).isFalse();
    }
  }

  @Test
  void whatTheNewOneRemovesTheOneThatDrainsRemoves() throws IOException {
    release();
    try (CacheFixture after = open()) {
      Await.until(() -> records(after) == 1);
      Removals there = new Removals();
      after.cache.handover().tellElder(there);
      assertThat(before.isReused()).isTrue();
      after.cache.operations().purge(CacheFixture.URI);
      there.playTo(before.cache.handover().follower());
      assertThat(before.isReused()).isFalse();
    }
  }

  @Test
  void whatTheNewOnePurgesByTagTheOneThatDrainsPurges() throws IOException {
    release();
    try (CacheFixture after = open()) {
      Await.until(() -> records(after) == 1);
      Removals there = new Removals();
      after.cache.handover().tellElder(there);
      after.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
      there.playTo(before.cache.handover().follower());
      assertThat(before.isReused()).isFalse();
      there.told.clear();
      after.cache.handover().tellElder(null);
      after.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
      assertThat(there.told).isEmpty();
    }
  }

  @Test
  void aNewerResponseRemovesTheOlderCopyThatTheOtherHas() throws IOException {
    release();
    before.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
    removals.told.clear();
    before.fill(200, "newer", FRESH);
    assertThat(removals.told).hasSize(1);
  }

  @Test
  void theDiskThatIsTakenBackHasNothingThatWasRemovedMeanwhile() throws IOException {
    release();
    open().stop();
    before.cache.operations().purge(CacheFixture.URI);
    before.cache.handover().takeBack(removals::playTo);
    assertThat(before.counted("kamille_cache_disk_up")).isEqualTo(1);
    removals.told.clear();
    assertThat(before.isReused()).isFalse();
    before.stop();
    before = open();
    Await.until(() -> before.counted("kamille_cache_disk_recovered") == 1);
    assertThat(before.isReused()).isFalse();
    assertThat(removals.told).isEmpty();
  }

  @Test
  void theDiskThatIsTakenBackKnowsThePurgesMeanwhile() throws IOException {
    release();
    before.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
    before.cache.handover().takeBack(removals::playTo);
    before.stop();
    before = open();
    Await.until(() -> before.counted("kamille_cache_disk_recovered") == 1);
    assertThat(before.isReused()).isFalse();
  }

  @Test
  void whatIsStillThereWhenTheDiskIsTakenBackIsServed() throws IOException {
    release();
    before.cache.handover().takeBack(removals::playTo);
    Await.until(() -> records(before) == 1);
    before.stop();
    before = open();
    Await.until(() -> records(before) == 1);
    assertThat(before.isReused()).isTrue();
  }

  @Test
  void aDiskThatCannotBeHadBackIsDoneWithout() throws IOException {
    release();
    CacheFixture other = open();
    assertThatThrownBy(() -> before.cache.handover().takeBack(removals::playTo))
        .isInstanceOf(IOException.class);
    assertThat(before.isReused()).isTrue();
    before.cache.operations().purge(CacheFixture.URI);
    assertThat(removals.told).isEmpty();
    other.stop();
  }
}
