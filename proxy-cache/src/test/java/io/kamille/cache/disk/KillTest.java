package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What a process finds after one that was killed, or after a disk that forgot. */
class KillTest {

  private static final int LENGTH = 100;

  private static MemoryDirectory written() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, LENGTH);
      fixture.put(1, 2, LENGTH);
      fixture.tier.remove(DiskFixture.key(2), 2);
      fixture.put(3, 1, LENGTH);
    }
    return directory;
  }

  @Test
  void cutOffAtAnyOctetASegmentGivesWhatWasWrittenBefore() {
    MemoryDirectory whole = written();
    String segment = whole.segments().getFirst();
    int length = whole.octets(segment).length;
    int best = 0;
    for (int cut = 0; cut <= length; cut++) {
      try (var fixture = DiskFixture.recovered(whole.cutOff(segment, cut))) {
        int found =
            fixture.version(1, LENGTH) * 100
                + (fixture.version(3, LENGTH) * 10)
                + (fixture.version(2, LENGTH) == 0 ? 1 : 0);
        assertThat(fixture.tier.isRunning()).isTrue();
        assertThat(fixture.tier.counts().damagedRecords.sum()).as("cut at %d", cut).isZero();
        best = Math.max(best, found);
      }
    }
    assertThat(best).as("version 2 of 1, version 1 of 3, none of 2").isEqualTo(211);
  }

  @Test
  void aSegmentThatWasCutOffIsNotWrittenToAgain() {
    MemoryDirectory whole = written();
    String segment = whole.segments().getFirst();
    MemoryDirectory cut = whole.cutOff(segment, whole.octets(segment).length - 1);
    try (var fixture = DiskFixture.recovered(cut)) {
      fixture.put(4, 1, LENGTH);
    }
    try (var fixture = DiskFixture.recovered(cut)) {
      assertThat(fixture.version(1, LENGTH)).isEqualTo(2);
      assertThat(fixture.version(4, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void zerosBehindTheLastRecordAreNoDamage() {
    MemoryDirectory whole = written();
    String segment = whole.segments().getFirst();
    MemoryDirectory grown = whole.cutOff(segment, whole.octets(segment).length + 500);
    try (var fixture = DiskFixture.recovered(grown)) {
      assertThat(fixture.version(3, LENGTH)).isEqualTo(1);
      assertThat(fixture.tier.counts().damagedRecords.sum()).isZero();
    }
  }

  @Test
  void withAnyOctetDamagedNoWrongOctetIsReadAndNothingRemovedComesBack() {
    MemoryDirectory whole = written();
    String segment = whole.segments().getFirst();
    for (int offset = 0; offset < whole.octets(segment).length; offset++) {
      try (var fixture = DiskFixture.recovered(whole.flipped(segment, offset, 1 << (offset % 8)))) {
        assertThat(fixture.version(1, LENGTH)).as("octet %d", offset).isIn(0, 2);
        assertThat(fixture.version(3, LENGTH)).as("octet %d", offset).isIn(0, 1);
        assertThat(fixture.all(2)).as("octet %d", offset).isEmpty();
        assertThat(fixture.tier.isRunning()).isTrue();
      }
    }
  }

  @Test
  void damageThatMayHideARemovalGivesUpWhatIsOlder() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, 3500);
      fixture.put(2, 1, 3500);
      fixture.put(3, 1, 3500);
    }
    String second = directory.segments().get(1);
    for (int offset : new int[] {3, Segment.HEADER_LENGTH + 5}) {
      try (var fixture = DiskFixture.recovered(directory.flipped(second, offset, 4))) {
        assertThat(fixture.all(1)).isEmpty();
        assertThat(fixture.all(2)).isEmpty();
        assertThat(fixture.version(3, 3500)).isEqualTo(1);
        assertThat(fixture.directory.segments()).containsExactly(directory.segments().get(2));
      }
    }
  }

  @Test
  void killedBetweenTwoBlocksTheRecordIsNotThere() {
    MemoryDirectory whole = new MemoryDirectory();
    try (var fixture = new DiskFixture(whole)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, 3000);
    }
    String segment = whole.segments().getFirst();
    for (int cut = 1000; cut < whole.octets(segment).length; cut += 97) {
      try (var fixture = DiskFixture.recovered(whole.cutOff(segment, cut))) {
        assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
        assertThat(fixture.all(2)).isEmpty();
      }
    }
  }

  @Test
  void aKillBetweenTwoStepsOfTheThreadLosesWhatWasNotWrittenAndNoMore() {
    var directory = new MemoryDirectory();
    var fixture = new DiskFixture(directory);
    fixture.put(1, 1, LENGTH);
    fixture.offer(2, 1, LENGTH, new AtomicBoolean(true));
    assertThat(fixture.tier.runOnce()).isTrue();
    fixture.kill();
    try (var after = DiskFixture.recovered(directory.copy())) {
      assertThat(after.version(1, LENGTH)).isEqualTo(1);
      assertThat(after.all(2)).isEmpty();
    }
  }

  @Test
  void whatIsWrittenOrRemovedDuringRecoveryIsNewerThanWhatIsRecovered() {
    MemoryDirectory directory = written();
    try (var fixture = new DiskFixture(directory)) {
      assertThat(fixture.tier.isRecovered()).isFalse();
      assertThat(fixture.all(1)).isEmpty();
      fixture.tier.remove(DiskFixture.key(3), 9);
      fixture.put(1, 9, LENGTH);
      assertThat(fixture.tier.isRecovered()).isTrue();
      assertThat(fixture.version(1, LENGTH)).isEqualTo(9);
      assertThat(fixture.all(3)).isEmpty();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.version(1, LENGTH)).isEqualTo(9);
      assertThat(fixture.all(3)).isEmpty();
    }
  }

  @Test
  void aClearDuringRecoveryHolds() {
    MemoryDirectory directory = written();
    try (var fixture = new DiskFixture(directory)) {
      fixture.tier.clear();
      fixture.run();
      assertThat(List.of(fixture.all(1).size(), fixture.all(3).size())).containsOnly(0);
      assertThat(directory.segments()).isEmpty();
    }
  }
}
