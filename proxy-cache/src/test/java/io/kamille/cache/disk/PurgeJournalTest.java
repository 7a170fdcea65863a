package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeNumbers;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.rules.Tags;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a process knows of the purges of those before it. */
class PurgeJournalTest {

  private static final Tags NEWS = Tags.named(List.of("news"));
  private static final Tags SPORT = Tags.named(List.of("sport"));

  private static PurgeTable table(DiskFixture fixture) {
    PurgeTable table = new PurgeTable();
    fixture.tier.keepPurges(table);
    fixture.run();
    return table;
  }

  private static String journal(MemoryDirectory directory) {
    return directory.names().stream().filter(PurgeJournal::isName).findFirst().orElseThrow();
  }

  private static @Nullable Purge find(PurgeTable table, long since, Tags tags, String uri) {
    return table.find(since, tags, () -> uri);
  }

  @Test
  void whatWasPurgedHoldsInTheNextProcess() {
    var directory = new MemoryDirectory();
    long before;
    try (var fixture = new DiskFixture(directory)) {
      PurgeTable table = table(fixture);
      before = table.last();
      table.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
      table.purge(PurgeTarget.tags(List.of("sport")), true, DiskFixture.NOW + 5);
      PurgeTarget host = Objects.requireNonNull(PurgeTarget.host("example.org"));
      table.purge(host, false, DiskFixture.NOW);
    }
    try (var fixture = new DiskFixture(directory)) {
      PurgeTable table = table(fixture);
      Purge hard = Objects.requireNonNull(find(table, before, NEWS, "http://other/"));
      assertThat(hard.isSoft()).isFalse();
      Purge soft = Objects.requireNonNull(find(table, before, SPORT, "http://other/"));
      assertThat(soft.isSoft()).isTrue();
      assertThat(soft.epochSeconds()).isEqualTo(DiskFixture.NOW + 5);
      assertThat(find(table, before, Tags.NONE, "http://example.org/a")).isNotNull();
      assertThat(find(table, before, Tags.NONE, "http://other/")).isNull();
      assertThat(find(table, table.last(), NEWS, "http://example.org/")).isNull();
    }
  }

  @Test
  void aPurgeHasALargerNumberThanAnythingAnEarlierProcessCanHaveStored() {
    var directory = new MemoryDirectory();
    var killed = new DiskFixture(directory);
    PurgeTable first = table(killed);
    first.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
    first.purge(PurgeTarget.tags(List.of("sport")), false, DiskFixture.NOW);
    killed.kill();
    try (var fixture = new DiskFixture(directory.copy())) {
      PurgeTable table = table(fixture);
      assertThat(table.last()).isGreaterThan(first.last());
      Purge purge = table.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
      assertThat(find(table, first.last(), NEWS, "http://a/")).isSameAs(purge);
    }
  }

  @Test
  void aFileTakesNoMoreThanTheTableAndSomeGrowthHoweverOftenAnythingIsPurged() throws Exception {
    var directory = new MemoryDirectory();
    PurgeTable table = new PurgeTable();
    Tags some = Tags.ofBits(new SplittableRandom(1).longs(50).toArray());
    PurgeTarget target = new PurgeTarget(Scope.TAG, List.of(), List.of(), some);
    PurgeJournal journal = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE, 10_000);
    table.keep(PurgeNotes.none(), note -> {});
    table.purge(target, false, DiskFixture.NOW);
    journal.begin(table::notes);
    int begun = directory.octets(journal(directory)).length;
    for (int i = 0; i < 100; i++) {
      table.purge(target, false, DiskFixture.NOW);
      journal.note(new PurgeNotes.Note(table.last(), false, DiskFixture.NOW, List.of(), some));
      assertThat(directory.octets(journal(directory))).hasSizeLessThan(begun + 11_000);
    }
    journal.close();
    PurgeNotes found =
        Objects.requireNonNull(new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read());
    assertThat(found.last()).isEqualTo(table.last());
    PurgeTable next = new PurgeTable();
    next.keep(found, note -> {});
    assertThat(find(next, table.last() - 1, Tags.ofBits(some.at(7)), "http://a/")).isNotNull();
    assertThat(find(next, table.last(), Tags.ofBits(some.at(7)), "http://a/")).isNull();
  }

  /** The disk has put it there: the purge that stood there is lost. */
  @Test
  void anEntryInThePlaceOfAnotherOneIsDamage() throws Exception {
    var directory = new MemoryDirectory();
    PurgeJournal journal = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE);
    journal.begin(PurgeNotes::none);
    int begun = directory.octets(journal(directory)).length;
    journal.note(new PurgeNotes.Note(1, false, DiskFixture.NOW, List.of(), NEWS));
    int length = directory.octets(journal(directory)).length - begun;
    journal.note(new PurgeNotes.Note(2, false, DiskFixture.NOW, List.of(), SPORT));
    journal.close();
    assertThat(new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read()).isNotNull();
    byte[] octets = directory.octets(journal(directory));
    System.arraycopy(octets, begun, octets, begun + length, length);
    assertThat(new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read()).isNull();
  }

  @Test
  void aLaterFormMayHavePurgesThatThisReleaseDoesNotSee() throws Exception {
    var directory = new MemoryDirectory();
    PurgeJournal journal = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE);
    journal.begin(PurgeNotes::none);
    journal.close();
    ByteBuffer octets = ByteBuffer.wrap(directory.octets(journal(directory)));
    octets.putInt(20, octets.getInt(20) + 1);
    octets.putInt(28, Checksum.of(octets.slice(0, 28)));
    assertThat(new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read()).isNull();
  }

  @Test
  void theLongestFileThatIsWrittenIsRead() {
    long copy =
        (long) PurgeNumbers.PAGES * PurgeJournal.PAGE_ENTRY_BYTES
            + 2 * PurgeTable.PREFIX_OCTETS_LIMIT;
    assertThat(copy + 2L * PurgeJournal.GROWTH_BYTES).isLessThan(PurgeJournal.LENGTH_LIMIT);
  }

  /** Small purges and such as only a configuration of several million entries would make. */
  @Test
  void whatIsNotedIsReadHoweverMuchItNames() throws Exception {
    var random = new SplittableRandom(20_261_129);
    var directory = new MemoryDirectory();
    PurgeJournal journal = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE);
    journal.begin(PurgeNotes::none);
    List<PurgeNotes.Note> notes = new ArrayList<>();
    for (int number = 1; number <= 100; number++) {
      Tags tags = Tags.ofBits(random.longs(random.nextInt(4) * Tags.LIMIT / 2).toArray());
      List<String> prefixes =
          Stream.generate(() -> "ü".repeat(random.nextInt(PurgeTarget.LENGTH_LIMIT + 2)))
              .limit(number % 5 == 0 ? random.nextInt(64) : random.nextInt(2))
              .toList();
      boolean isSoft = random.nextBoolean();
      notes.add(new PurgeNotes.Note(number, isSoft, random.nextLong(), prefixes, tags));
      journal.note(notes.getLast());
    }
    journal.close();
    PurgeNotes read =
        Objects.requireNonNull(new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read());
    assertThat(read.notes()).isEqualTo(notes);
    assertThat(read.last()).isEqualTo(100);
  }

  /** A release before let notes go: what is older than these counts as purged. */
  @Test
  void notesThatAnEarlierReleaseLetGoStillCountAgainstWhatIsOlder() throws Exception {
    var directory = new MemoryDirectory();
    PurgeJournalFuzzTest.writeState(directory, 5, 4);
    PurgeJournal journal = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE);
    PurgeTable table = new PurgeTable();
    table.keep(Objects.requireNonNull(journal.read()), note -> {});
    assertThat(find(table, 3, Tags.NONE, "http://a/")).isNotNull();
    assertThat(find(table, 4, Tags.NONE, "http://a/")).isNull();
    assertThat(table.last()).isGreaterThan(5);
  }

  /** Beyond it, a purge could have a smaller number than what it is about. */
  @Test
  void aNumberBeyondTheLimitIsDamage() throws Exception {
    long most = 1L << 62;
    for (long number : new long[] {0, 1L << 40, most - 1, most}) {
      assertThat(lastOf(number)).isEqualTo(number);
    }
    for (long number : new long[] {most + 1, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
      assertThat(lastOf(number)).as("%d", number).isNull();
    }
  }

  private static @Nullable Long lastOf(long number) throws Exception {
    var directory = new MemoryDirectory();
    PurgeJournalFuzzTest.writeState(directory, number, 0);
    PurgeNotes read = new PurgeJournal(directory, PurgeJournalFuzzTest.STORE).read();
    return read == null ? null : read.last();
  }

  /** Each process takes 2^32 numbers, so nobody lives to see it. */
  @Test
  void aStoreWhoseNumbersAreUsedUpBeginsAnew() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, 100);
      PurgeTable table = new PurgeTable();
      long before = (1L << 62) - 2 * (1L << 32);
      table.keep(new PurgeNotes(before, List.of(), new PurgeNumbers()), _ -> {});
      fixture.tier.keepPurges(table);
      fixture.run();
      assertThat(table.last()).isEqualTo(1L << 62);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.version(1, 100)).as("at the limit").isEqualTo(1);
      assertThat(table(fixture).last()).isGreaterThan(1L << 62);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).as("beyond it").isEmpty();
      assertThat(table(fixture).last()).isEqualTo(1L << 32);
      fixture.put(1, 2, 100);
      assertThat(fixture.version(1, 100)).isEqualTo(2);
    }
  }

  @Test
  void cutOffAnywhereItGivesThePurgesBefore() {
    var directory = new MemoryDirectory();
    long before;
    int begun;
    try (var fixture = new DiskFixture(directory)) {
      PurgeTable table = table(fixture);
      before = table.last();
      begun = directory.octets(journal(directory)).length;
      table.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
      table.purge(PurgeTarget.tags(List.of("sport")), false, DiskFixture.NOW);
    }
    String name = journal(directory);
    int length = directory.octets(name).length;
    for (int cut = begun; cut <= length + 20; cut++) {
      try (var fixture = new DiskFixture(directory.cutOff(name, cut))) {
        PurgeTable table = table(fixture);
        boolean hasNews = find(table, before, NEWS, "http://a/") != null;
        boolean hasSport = find(table, before, SPORT, "http://a/") != null;
        assertThat(hasNews).as("cut at %d", cut).isEqualTo(cut >= (begun + length) / 2);
        assertThat(hasSport).as("cut at %d", cut).isEqualTo(cut >= length);
      }
    }
  }

  @Test
  void withAnyOctetDamagedNothingPurgedComesBack() {
    var directory = new MemoryDirectory();
    long before;
    try (var fixture = new DiskFixture(directory)) {
      PurgeTable table = table(fixture);
      before = table.last();
      fixture.put(1, 1, 100);
      table.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
    }
    String name = journal(directory);
    for (int offset = 0; offset < directory.octets(name).length; offset++) {
      try (var fixture = DiskFixture.recovered(directory.flipped(name, offset, 16))) {
        PurgeTable table = table(fixture);
        boolean isPurged = find(table, before, NEWS, "http://a/") != null;
        assertThat(isPurged || fixture.all(1).isEmpty()).as("octet %d", offset).isTrue();
      }
    }
  }

  @Test
  void withoutAJournalNothingIsTakenFromAnEarlierProcess() throws Exception {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, 100);
    }
    directory.delete(journal(directory));
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.tier.isRunning()).isTrue();
    }
  }

  @Test
  void whoWaitsForAPurgeToBeWrittenIsToldWhenItIs() {
    var directory = new MemoryDirectory();
    var fixture = new DiskFixture(directory);
    PurgeTable table = table(fixture);
    long before = table.last();
    table.purge(PurgeTarget.tags(List.of("news")), false, DiskFixture.NOW);
    var told = new AtomicInteger();
    fixture.tier.whenWritten(told::incrementAndGet);
    assertThat(told).hasValue(0);
    fixture.run();
    assertThat(told).hasValue(1);
    fixture.kill();
    try (var after = new DiskFixture(directory.copy())) {
      assertThat(find(table(after), before, NEWS, "http://a/")).isNotNull();
    }
  }

  @Test
  void aRemovalThatWasWaitedForHoldsAfterAKill() {
    var directory = new MemoryDirectory();
    var fixture = new DiskFixture(directory);
    fixture.put(1, 1, 100);
    fixture.put(2, 1, 100);
    fixture.tier.remove(DiskFixture.key(1), 0);
    var told = new AtomicInteger();
    fixture.tier.whenWritten(told::incrementAndGet);
    while (told.get() == 0) {
      assertThat(fixture.tier.runOnce()).isTrue();
    }
    fixture.kill();
    try (var after = DiskFixture.recovered(directory.copy())) {
      assertThat(after.all(1)).isEmpty();
      assertThat(after.version(2, 100)).isEqualTo(1);
    }
  }

  @Test
  void whoWaitsForADiskThatTakesNothingIsTold() {
    try (var fixture = new DiskFixture()) {
      fixture.directory.becomeFull();
      fixture.put(1, 1, 100);
      assertThat(fixture.tier.isRunning()).isFalse();
      var told = new AtomicInteger();
      fixture.tier.whenWritten(told::incrementAndGet);
      fixture.run();
      assertThat(told).hasValue(1);
    }
  }
}
