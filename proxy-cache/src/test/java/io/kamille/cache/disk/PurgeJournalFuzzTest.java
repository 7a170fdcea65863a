package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.PurgeNumbers;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.Tags;
import io.kamille.core.h1.FuzzBudget;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Whatever becomes of the journal of purges, what is read of it was noted, from the first on, or
 * nothing is.
 */
class PurgeJournalFuzzTest {

  private static final int ROUNDS = 2_000;
  static final long STORE = 0x1234_5678_9abc_def0L;
  private static final String NAME = "00000001.purges";
  private static final int HEADER_LENGTH = 32;
  private static final int FRAME_LENGTH = 12;

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final OctetSpoiler spoiler = new OctetSpoiler(random);

  @Test
  void whatIsReadOfASpoiledJournalWasNotedFromTheFirstOn() throws IOException {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    long read = 0;
    while (budget.hasNext()) {
      Written written = write(false);
      byte[] octets = spoiler.spoiled(written.octets);
      PurgeNotes found = read(octets);
      if (found != null) {
        read++;
        int count = found.notes().size();
        assertThat(found.notes())
            .as(because(octets))
            .isEqualTo(written.notes.subList(0, count))
            .hasSizeGreaterThanOrEqualTo(written.notesBefore(damage(written.octets, octets)));
        assertThat(found.last()).as(because(octets)).isEqualTo(written.last(count));
        assertThat(pages(found)).as(because(octets)).isEqualTo(pages(written.begun));
      }
    }
    budget.report("journals of purges, of which " + read + " were read");
    assertThat(read).as("journals read").isGreaterThan(budget.round() / 50);
  }

  @Test
  void entriesThatNobodyWroteDoNoHarm() throws IOException {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    long read = 0;
    while (budget.hasNext()) {
      byte[] octets = withOtherBodies(write(true).octets);
      PurgeNotes found = read(octets);
      if (found != null) {
        read++;
        PurgeNotes again = Objects.requireNonNull(rewritten(found));
        assertThat(again.notes()).as(because(octets)).isEqualTo(found.notes());
        assertThat(again.last()).as(because(octets)).isEqualTo(found.last());
        assertThat(pages(again)).as(because(octets)).isEqualTo(pages(found));
        PurgeTable table = new PurgeTable();
        table.keep(found, note -> {});
        assertThat(table.last()).as(because(octets)).isGreaterThan(found.last());
        Purge purge = table.purge(PurgeTarget.all(), false, DiskFixture.NOW);
        assertThat(table.find(table.last() - 1, Tags.NONE, () -> "http://a/"))
            .as(because(octets))
            .isNotNull()
            .isSameAs(purge);
      }
    }
    budget.report("journals of purges with other entries, of which " + read + " were read");
    assertThat(read).as("journals read").isGreaterThan(budget.round() / 10);
  }

  @Test
  void aFileThatNobodyWroteIsNotRead() throws IOException {
    byte[] octets = Arrays.copyOf(write(false).octets, PurgeJournal.LENGTH_LIMIT + 1);
    assertThat(parse(octets)).isNull();
    assertThat(Allocation.bytes(() -> parse(octets))).isLessThan(1 << 20);
  }

  /** A journal as it was written: its octets, what it begins with, all notes, where each ends. */
  private static final class Written {
    final byte[] octets;
    final PurgeNotes begun;
    final List<Note> notes;
    final List<Integer> ends;

    Written(byte[] octets, PurgeNotes begun, List<Note> notes, List<Integer> ends) {
      this.octets = octets;
      this.begun = begun;
      this.notes = notes;
      this.ends = ends;
    }

    int notesBefore(int offset) {
      return (int) ends.stream().filter(end -> end <= offset).count();
    }

    long last(int count) {
      return notes.stream().limit(count).mapToLong(Note::sequence).reduce(begun.last(), Math::max);
    }
  }

  private Written write(boolean hasPages) throws IOException {
    long sequence = random.nextLong(1L << 40);
    List<Note> first = notes(sequence);
    List<Note> later = notes(sequence + first.size());
    PurgeNumbers numbers = new PurgeNumbers();
    for (int i = hasPages ? random.nextInt(3) : 0; i > 0; i--) {
      numbers.raise(
          random.nextInt(PurgeNumbers.PAGES),
          random.nextInt(PurgeNumbers.PAGE),
          random.nextLong(sequence + 1));
    }
    PurgeNotes begun = new PurgeNotes(sequence + first.size(), first, numbers);
    MemoryDirectory directory = new MemoryDirectory();
    PurgeJournal journal = new PurgeJournal(directory, STORE);
    journal.begin(() -> begun);
    List<Integer> ends = new ArrayList<>();
    first.forEach(note -> ends.add(directory.octets(NAME).length));
    for (Note note : later) {
      journal.note(note);
      ends.add(directory.octets(NAME).length);
    }
    journal.close();
    List<Note> all = new ArrayList<>(first);
    all.addAll(later);
    return new Written(directory.octets(NAME), begun, all, ends);
  }

  private static String pages(PurgeNotes notes) {
    StringBuilder pages = new StringBuilder();
    for (int page = 0; page < PurgeNumbers.PAGES; page++) {
      long[] numbers = notes.numbers().page(page);
      if (numbers != null) {
        pages.append(page).append(Arrays.toString(numbers));
      }
    }
    return pages.toString();
  }

  private List<Note> notes(long before) {
    List<Note> notes = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      notes.add(note(before + notes.size() + 1));
    }
    return notes;
  }

  private Note note(long sequence) {
    List<String> prefixes = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      prefixes.add("http://\u00fc/".substring(0, random.nextInt(10)));
    }
    long[] tags = random.longs(random.nextInt(4)).toArray();
    long epochSeconds = DiskFixture.NOW + random.nextInt(100);
    return new Note(sequence, random.nextBoolean(), epochSeconds, prefixes, Tags.ofBits(tags));
  }

  /** Where the first octet differs; behind the end if something was only added. */
  private static int damage(byte[] before, byte[] after) {
    int at = Arrays.mismatch(before, after);
    return at < 0 ? before.length : at;
  }

  /** The same with some bodies spoiled, under checksums that are right. */
  private byte[] withOtherBodies(byte[] octets) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.wrap(octets);
    out.write(octets, 0, HEADER_LENGTH);
    for (int at = HEADER_LENGTH; at < octets.length; ) {
      byte[] body =
          Arrays.copyOfRange(octets, at + FRAME_LENGTH, at + FRAME_LENGTH + in.getInt(at));
      at += FRAME_LENGTH + body.length;
      if (random.nextInt(3) == 0) {
        body = spoiler.spoiled(body);
      }
      writeEntry(out, body);
    }
    return out.toByteArray();
  }

  /** Reads a sound file with one more entry. */
  static void readEntry(byte[] body) {
    try {
      MemoryDirectory directory = new MemoryDirectory();
      PurgeJournal journal = new PurgeJournal(directory, STORE);
      journal.begin(() -> PurgeNotes.none());
      journal.close();
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(directory.octets(NAME));
      writeEntry(out, body);
      read(out.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A journal of an earlier release that says only this. */
  static void writeState(MemoryDirectory directory, long last, long trimmed) throws IOException {
    PurgeJournal journal = new PurgeJournal(directory, STORE);
    journal.begin(PurgeNotes::none);
    journal.close();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteBuffer header = ByteBuffer.wrap(directory.octets(NAME), 0, HEADER_LENGTH).putInt(20, 0);
    header.putInt(28, Checksum.of(header.array(), 0, 28));
    out.write(header.array(), 0, HEADER_LENGTH);
    ByteBuffer state = ByteBuffer.allocate(17).put((byte) 2).putLong(last).putLong(trimmed);
    writeEntry(out, state.array(), state.array());
    directory.put(NAME, out.toByteArray());
  }

  private static void writeEntry(ByteArrayOutputStream out, byte[] body) {
    byte[] checked = ByteBuffer.allocate(8 + body.length).putLong(out.size()).put(body).array();
    writeEntry(out, body, checked);
  }

  private static void writeEntry(ByteArrayOutputStream out, byte[] body, byte[] checked) {
    ByteBuffer frame = ByteBuffer.allocate(FRAME_LENGTH);
    frame.putInt(body.length).putInt(~body.length).putInt(OctetSpoiler.checksum(checked));
    out.writeBytes(frame.array());
    out.writeBytes(body);
  }

  /** What is read of these octets, without taking more memory than they justify. */
  private static @Nullable PurgeNotes read(byte[] octets) {
    PurgeNotes notes = parse(octets);
    long bytes = Allocation.bytes(() -> parse(octets));
    assertThat(bytes).as(because(octets)).isLessThan((1 << 20) + 64L * octets.length);
    return notes;
  }

  private static @Nullable PurgeNotes parse(byte[] octets) {
    try {
      MemoryDirectory directory = new MemoryDirectory();
      directory.put(NAME, octets);
      return new PurgeJournal(directory, STORE).read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      throw new AssertionError(because(octets), e);
    }
  }

  private static @Nullable PurgeNotes rewritten(PurgeNotes notes) throws IOException {
    MemoryDirectory directory = new MemoryDirectory();
    PurgeJournal journal = new PurgeJournal(directory, STORE);
    journal.begin(() -> notes);
    journal.close();
    return parse(directory.octets(NAME));
  }

  private static String because(byte[] octets) {
    int shown = Math.min(octets.length, 2_000);
    return "seed " + FuzzBudget.SEED + ": " + HexFormat.of().formatHex(octets, 0, shown);
  }
}
