package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.rules.SelectingFields;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A disk that fails costs what it cannot keep, and nothing else. */
class DiskFaultTest {

  private static final int LENGTH = 300;

  @Test
  void aFullDiskIsReadAndNotWritten() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeFull();
      fixture.put(2, 1, LENGTH);
      assertThat(fixture.tier.isRunning()).isFalse();
      assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
      assertThat(fixture.all(2)).isEmpty();
      assertThat(fixture.offer(3, 1, LENGTH, new AtomicBoolean(true))).isFalse();
    }
  }

  @Test
  void aDiskThatHasRoomAgainIsWrittenAgain() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeFull();
      fixture.put(2, 1, LENGTH);
      fixture.directory.becomeRoomy();
      fixture.run();
      assertThat(fixture.tier.isRunning()).isTrue();
      fixture.put(3, 1, LENGTH);
      assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
      assertThat(fixture.version(3, LENGTH)).isEqualTo(1);
      try (var after = DiskFixture.recovered(fixture.directory.copy())) {
        assertThat(after.version(1, LENGTH)).isEqualTo(1);
        assertThat(after.all(2)).isEmpty();
        assertThat(after.version(3, LENGTH)).isEqualTo(1);
      }
    }
  }

  @Test
  void trialsOnAFullDiskLeaveNoFiles() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeFull();
      fixture.put(2, 1, LENGTH);
      List<String> before = fixture.directory.names();
      for (int i = 0; i < 100; i++) {
        fixture.tier.remove(DiskFixture.key(1), i);
        fixture.run();
      }
      assertThat(fixture.directory.names()).hasSizeLessThanOrEqualTo(before.size());
    }
  }

  @Test
  void aRestartOnAFullDiskFindsWhatWasThere() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      directory.becomeFull();
      fixture.put(2, 1, LENGTH);
    }
    directory.becomeFull();
    try (var after = DiskFixture.recovered(directory)) {
      assertThat(after.version(1, LENGTH)).isEqualTo(1);
      directory.becomeRoomy();
      after.put(3, 1, LENGTH);
      after.put(3, 1, LENGTH);
      assertThat(after.version(3, LENGTH)).isEqualTo(1);
    }
  }

  /** There may be as many removals on a disk as it has room for: many times the heap. */
  @Test
  void whatFilesRemoveTakesNoHeapWhileTheyAreRead() throws Exception {
    int removals = 40_000;
    long capacity = 8 << 20;
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory, capacity)) {
      // While a response waits to be written, removals are written whatever they are about.
      fixture.offer(0, 1, LENGTH, new AtomicBoolean(true));
      for (int i = 0; i < removals; i++) {
        fixture.tier.remove(DiskFixture.key(i), i);
      }
      fixture.run();
    }
    int segments = directory.names().size();
    try (var after = new DiskFixture(directory, capacity)) {
      long before = entriesOfMaps();
      for (int i = 0; i < segments - 10; i++) {
        after.tier.runOnce();
      }
      assertThat(after.tier.isRecovered()).isFalse();
      assertThat(entriesOfMaps() - before).isLessThan(removals / 4);
    }
  }

  /** On the heap of this process. */
  private static long entriesOfMaps() throws JMException {
    String histogram =
        (String)
            ManagementFactory.getPlatformMBeanServer()
                .invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "gcClassHistogram",
                    new Object[] {new String[0]},
                    new String[] {String[].class.getName()});
    return histogram
        .lines()
        .filter(line -> line.contains("java.util.concurrent.ConcurrentHashMap$Node "))
        .mapToLong(line -> Long.parseLong(line.strip().split(" +", -1)[1]))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatWasRemovedWhileTheDiskWasFullNeverComesBack(boolean hasRoomInTheEnd) {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, LENGTH);
      directory.becomeFull();
      fixture.tier.remove(DiskFixture.key(1), 7);
      var isWritten = new AtomicBoolean();
      fixture.tier.whenWritten(() -> isWritten.set(true));
      fixture.run();
      assertThat(isWritten).isTrue();
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
      if (hasRoomInTheEnd) {
        directory.becomeRoomy();
        fixture.run();
      }
      MemoryDirectory killed = directory.copy();
      killed.becomeRoomy();
      try (var after = DiskFixture.recovered(killed)) {
        assertThat(after.all(1)).isEmpty();
        assertThat(after.all(2)).hasSize(hasRoomInTheEnd ? 1 : 0);
      }
    }
  }

  /** They fill some segments; there is room for one at first. */
  @Test
  void removalsThatAnAttemptDidNotComeToAreWrittenByTheNext() throws IOException {
    List<Long> keys = LongStream.range(0, 200).boxed().toList();
    var directory = new MemoryDirectory();
    var log =
        new SegmentLog(directory, 1, 1 << 20, 4096, new DiskIndex(), new DiskCounts(), _ -> {});
    directory.becomeFull();
    for (long key : keys) {
      assertThatThrownBy(() -> log.remove(1, key, 1)).isInstanceOf(IOException.class);
      assertThat(log.salvage()).isTrue();
    }
    directory.leave(5_000);
    assertThatThrownBy(log::rewrite).isInstanceOf(IOException.class);
    assertThat(log.salvage()).isTrue();
    directory.becomeRoomy();
    log.rewrite();
    log.flush();
    Set<Long> written = new HashSet<>();
    for (String name : directory.segments()) {
      Segment segment = log.retained(Segment.number(name));
      if (segment != null) {
        Objects.requireNonNull(log.recovery().headers(segment))
            .forEach(header -> written.add(header.keyLow()));
        segment.release();
      }
    }
    assertThat(written).containsAll(keys);
    log.close();
  }

  @Test
  void aDiskThatBecomesReadOnlyIsReadAndWrittenAgainLater() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeReadOnly();
      fixture.put(2, 1, LENGTH);
      fixture.tier.remove(DiskFixture.key(1), 1);
      fixture.run();
      assertThat(fixture.tier.isRunning()).isFalse();
      fixture.directory.becomeRoomy();
      fixture.run();
      fixture.put(2, 1, LENGTH);
      assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
      try (var after = DiskFixture.recovered(fixture.directory.copy())) {
        assertThat(after.all(1)).isEmpty();
        assertThat(after.version(2, LENGTH)).isEqualTo(1);
      }
    }
  }

  /** Records of 300 octets with their heads: some lie in each segment of 4,096. */
  private static void fillSegments(DiskFixture fixture) {
    for (int number = 1; number <= 20; number++) {
      fixture.put(number, 1, LENGTH);
    }
    assertThat(fixture.directory.segments()).hasSizeGreaterThan(2);
  }

  @Test
  void aSegmentThatCannotBeReadGoesAlone() {
    try (var fixture = new DiskFixture()) {
      fillSegments(fixture);
      Extent first = fixture.tier.find(DiskFixture.key(1))[0];
      fixture.directory.becomeUnreadable(Segment.name(first.segment()));
      assertThat(fixture.all(1)).isEmpty();
      fixture.run();
      assertThat(fixture.tier.isRunning()).isTrue();
      assertThat(fixture.tier.find(DiskFixture.key(1))).isEmpty();
      assertThat(fixture.version(20, LENGTH)).isEqualTo(1);
      assertThat(fixture.directory.names()).doesNotContain(Segment.name(first.segment()));
      fixture.put(1, 2, LENGTH);
      assertThat(fixture.version(1, LENGTH)).isEqualTo(2);
    }
  }

  @Test
  void whatASegmentHadRemovedStaysRemovedWithoutIt() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, LENGTH);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      fixture.tier.remove(DiskFixture.key(1), 1);
      fixture.put(2, 2, LENGTH);
      Extent newer = fixture.tier.find(DiskFixture.key(2))[0];
      directory.becomeUnreadable(Segment.name(newer.segment()));
      assertThat(fixture.all(2)).isEmpty();
      fixture.run();
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.all(2)).isEmpty();
      MemoryDirectory killed = directory.copy();
      try (var after = DiskFixture.recovered(killed)) {
        assertThat(after.all(1)).isEmpty();
        assertThat(after.all(2)).isEmpty();
      }
    }
  }

  @Test
  void aReadThatFailsForAMomentCostsNoMoreThanItsSegment() {
    try (var fixture = new DiskFixture()) {
      fillSegments(fixture);
      Extent first = fixture.tier.find(DiskFixture.key(1))[0];
      fixture.directory.becomeUnreadable(Segment.name(first.segment()));
      assertThat(fixture.all(1)).isEmpty();
      fixture.directory.becomeUnreadable("");
      fixture.run();
      for (int number = 1; number <= 20; number++) {
        assertThat(fixture.all(number).size()).isEqualTo(isAfter(fixture, number, first) ? 1 : 0);
      }
      try (var after = DiskFixture.recovered(fixture.directory.copy())) {
        assertThat(after.tier.size()).isEqualTo(fixture.tier.size());
      }
    }
  }

  private static boolean isAfter(DiskFixture fixture, int number, Extent first) {
    Extent[] found = fixture.tier.find(DiskFixture.key(number));
    return found.length > 0 && found[0].segment() > first.segment();
  }

  @Test
  void aSegmentThatCannotBeReadAtTheStartGoesWithOlderOnes() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fillSegments(fixture);
    }
    List<String> segments = directory.segments();
    directory.becomeUnreadable(segments.get(1));
    try (var after = DiskFixture.recovered(directory)) {
      assertThat(after.tier.isRunning()).isTrue();
      assertThat(after.all(1)).isEmpty();
      assertThat(after.version(20, LENGTH)).isEqualTo(1);
    }
  }

  /** Whatever fails in whatever order: what is read is the last version, or nothing. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void nothingOlderComesBackInAnyOrderOfFaults(long seed) {
    var random = new SplittableRandom(seed);
    int[] last = new int[12];
    var directory = new MemoryDirectory();
    DiskFixture fixture = DiskFixture.recovered(directory);
    for (int step = 1; step <= 400; step++) {
      int number = random.nextInt(last.length);
      switch (random.nextInt(12)) {
        case 0 -> directory.becomeFull();
        case 1, 2 -> directory.becomeRoomy();
        case 3 -> {
          List<String> segments = directory.segments();
          directory.becomeUnreadable(
              segments.isEmpty() ? "" : segments.get(random.nextInt(segments.size())));
        }
        case 4 -> directory.becomeUnreadable("");
        case 5 -> {
          fixture.run();
          if (random.nextBoolean()) {
            fixture.close();
            directory = directory.copy();
          } else {
            directory = directory.copy();
            fixture.kill();
          }
          if (random.nextBoolean()) {
            directory.becomeFull();
          }
          fixture = DiskFixture.recovered(directory);
        }
        case 6 -> {
          fixture.tier.remove(DiskFixture.key(number), step);
          last[number] = 0;
        }
        default -> {
          fixture.tier.replaced(DiskFixture.key(number), SelectingFields.NONE);
          last[number] = step;
          fixture.offer(number, step, LENGTH + random.nextInt(600), new AtomicBoolean(true));
        }
      }
      if (random.nextInt(3) > 0) {
        fixture.run();
      }
      int asked = random.nextInt(last.length);
      for (DiskFixture.Whole whole : fixture.all(asked)) {
        assertThat(whole.sequence()).as("step %d of seed %d", step, seed).isEqualTo(last[asked]);
      }
    }
    directory.becomeRoomy();
    fixture.run();
    fixture.put(1, 1000, LENGTH);
    assertThat(fixture.version(1, LENGTH)).isEqualTo(1000);
    fixture.close();
  }

  @Test
  void whatWaitsWhenTheDiskFailsIsReleased() {
    try (var fixture = new DiskFixture()) {
      fixture.directory.becomeFull();
      for (int i = 0; i < 10; i++) {
        fixture.offer(i, 1, LENGTH, new AtomicBoolean(true));
      }
      fixture.run();
      assertThat(fixture.tier.isRunning()).isFalse();
    }
  }

  @Test
  void shortWritesAreCarriedOn() {
    try (var fixture = new DiskFixture()) {
      fixture.directory.writeAtMost(7);
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, 3000);
      assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
      assertThat(fixture.version(2, 3000)).isEqualTo(1);
    }
  }

  @Test
  void aDirectoryThatCannotBeHadIsTold(@TempDir Path path) throws IOException {
    Path file = Files.writeString(path.resolve("file"), "no directory");
    assertThatThrownBy(
            () -> DiskTier.open(Disk.ofSystem(), file, DiskTier.CAPACITY_MINIMUM_BYTES, 1 << 20))
        .isInstanceOf(IOException.class);
    assertThat(Files.readString(file)).isEqualTo("no directory");
  }
}
