package io.kamille.cache.disk;

import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.PurgeNumbers;
import io.kamille.cache.rules.Tags;
import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What was purged by tag, prefix or host, in a file that is only appended to. Confined to the
 * store's thread once it is open.
 */
final class PurgeJournal {

  /*
   *   ┌──────┬───────┬────────┬──────┬──────┬─────────┐
   *   │ mark │ store │ number │ form │ zero │ CRC-32C │  and entries behind it
   *   └──────┴───────┴────────┴──────┴──────┴─────────┘
   *   0      8       16       20     24     28        32
   *
   *   entry
   *   ┌────────┬─────────────────┬─────────┬──────┐
   *   │ length │ length inverted │ CRC-32C │ body │
   *   └────────┴─────────────────┴─────────┴──────┘
   *   0        4                 8         12
   *
   * The checksum is that of the entry's place and the body, so an entry that the disk has put in the
   * place of another one is not right. In the form 0, of earlier releases, it is that of the body.
   *
   * A body is a note, a page of the numbers of all names, or the state: the last number, which ends
   * what the file begins with, a copy of all that holds. Each process begins a file of its own, and
   * so does one whose file has become long; older files are deleted when the copy is complete. A
   * file without a state is none.
   *
   * An entry that goes beyond the end, or zeros, is where a process was killed. Anything else that
   * is wrong may hide purges. A copy takes at most 25 MiB for the numbers and 1 MiB for prefixes,
   * and a file is begun anew when it has grown by GROWTH_BYTES; one of more than LENGTH_LIMIT is not
   * ours, and not read.
   */
  private static final long MARK = 0x4b414d494c4c4550L; // KAMILLEP
  private static final int FORM = 1;
  private static final int HEADER_LENGTH = 32;
  private static final int CHECKED = HEADER_LENGTH - Integer.BYTES;
  private static final int FRAME_LENGTH = 3 * Integer.BYTES;
  private static final int BODY_LIMIT = 1 << 24;
  static final int LENGTH_LIMIT = 64 << 20;

  /** No process comes as far; from here on numbers could overflow. */
  private static final long NUMBER_LIMIT = 1L << 62;

  private static final byte NOTE = 1;
  private static final byte STATE = 2;
  private static final byte PAGE = 3;
  private static final int PAGE_BYTES = PurgeNumbers.PAGE * Long.BYTES;
  private static final String SUFFIX = ".purges";
  private static final int NAME_LENGTH = 8 + SUFFIX.length();

  /** How many octets are appended before the file is begun anew. */
  static final int GROWTH_BYTES = 16 << 20;

  /** What a full page takes. */
  static final int PAGE_ENTRY_BYTES = FRAME_LENGTH + 1 + Integer.BYTES + PAGE_BYTES;

  private final StoreDirectory directory;
  private final long store;
  private final long growthBytes;
  private Supplier<PurgeNotes> all = PurgeNotes::none;
  private @Nullable StoreFile file;
  private int number;
  private long length;
  private long begunBytes;

  PurgeJournal(StoreDirectory directory, long store) {
    this(directory, store, GROWTH_BYTES);
  }

  PurgeJournal(StoreDirectory directory, long store, long growthBytes) {
    this.directory = directory;
    this.store = store;
    this.growthBytes = growthBytes;
  }

  /** Whether a file of that name is a journal's. */
  static boolean isName(String name) {
    return name.length() == NAME_LENGTH
        && name.endsWith(SUFFIX)
        && name.chars().limit(8).allMatch(HexFormat::isHexDigit);
  }

  /** What an earlier process noted; null if there is nothing, or purges may be missing from it. */
  @Nullable PurgeNotes read() throws IOException {
    List<String> newestFirst = names();
    for (String name : newestFirst) {
      number = Math.max(number, HexFormat.fromHexDigits(name, 0, 8));
    }
    for (String name : newestFirst) {
      Reading reading = read(name);
      if (reading.isDamaged) {
        return null;
      }
      if (reading.hasState) {
        return new PurgeNotes(reading.last, reading.notes, reading.numbers);
      }
    }
    return null;
  }

  private List<String> names() throws IOException {
    return directory.names().stream()
        .filter(PurgeJournal::isName)
        .sorted(Comparator.reverseOrder())
        .toList();
  }

  private Reading read(String name) throws IOException {
    Reading reading = new Reading();
    ByteBuffer octets;
    try (StoreFile from = directory.open(name)) {
      reading.isDamaged = from.length() > LENGTH_LIMIT;
      if (reading.isDamaged) {
        return reading;
      }
      octets = ByteBuffer.allocate((int) from.length());
      from.readFully(octets, 0);
    } catch (EOFException e) {
      return reading;
    }
    octets.flip();
    if (octets.remaining() < HEADER_LENGTH) {
      return reading;
    }
    ByteBuffer header = octets.slice(0, HEADER_LENGTH);
    int number = HexFormat.fromHexDigits(name, 0, 8);
    boolean hasPlaces = header.equals(header(number, FORM));
    reading.isDamaged = !hasPlaces && !header.equals(header(number, 0));
    octets.position(HEADER_LENGTH);
    while (!reading.isDamaged && takeEntry(octets, hasPlaces, reading)) {
      // one after the other
    }
    return reading;
  }

  private static final class Reading {
    private final List<Note> notes = new ArrayList<>();
    private final PurgeNumbers numbers = new PurgeNumbers();
    private long last;
    private boolean hasState;
    private boolean isDamaged;
  }

  /** Reads one entry; false at the end. */
  private static boolean takeEntry(ByteBuffer octets, boolean hasPlaces, Reading reading) {
    if (octets.remaining() < FRAME_LENGTH || isZero(octets)) {
      return false;
    }
    int place = octets.position();
    int bodyLength = octets.getInt();
    int inverted = octets.getInt();
    int checksum = octets.getInt();
    if (inverted != ~bodyLength || bodyLength <= 0 || bodyLength > BODY_LIMIT) {
      reading.isDamaged = true;
      return false;
    }
    if (octets.remaining() < bodyLength) {
      return false;
    }
    ByteBuffer body = octets.slice(octets.position(), bodyLength);
    octets.position(octets.position() + bodyLength);
    int right = hasPlaces ? checksum(place, body) : Checksum.of(body);
    reading.isDamaged = checksum != right || !takeBody(body, reading);
    return !reading.isDamaged;
  }

  private static int checksum(long place, ByteBuffer body) {
    return Checksum.of(ByteBuffer.allocate(Long.BYTES).putLong(place).flip(), body);
  }

  private static boolean isZero(ByteBuffer octets) {
    for (int i = octets.position(); i < octets.limit(); i++) {
      if (octets.get(i) != 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean takeBody(ByteBuffer body, Reading reading) {
    try {
      switch (body.get()) {
        case NOTE -> {
          Note note = note(body);
          reading.notes.add(note);
          reading.last = Math.max(reading.last, note.sequence());
        }
        case STATE -> {
          reading.last = Math.max(reading.last, number(body));
          trimmed(number(body), reading);
          reading.hasState = true;
        }
        case PAGE -> takePage(body, reading.numbers);
        default -> {
          return false;
        }
      }
      return !body.hasRemaining();
    } catch (BufferUnderflowException notOurs) {
      return false;
    }
  }

  /** An earlier release let the notes go up to that purge: what is older counts as purged. */
  private static void trimmed(long number, Reading reading) {
    if (number > reading.last) {
      throw new BufferUnderflowException();
    }
    if (number > 0) {
      reading.notes.add(new Note(number, false, 0, List.of(""), Tags.NONE));
    }
  }

  private static void takePage(ByteBuffer body, PurgeNumbers numbers) {
    int page = body.getInt();
    if (page < 0 || page >= PurgeNumbers.PAGES || body.remaining() != PAGE_BYTES) {
      throw new BufferUnderflowException();
    }
    for (int at = 0; at < PurgeNumbers.PAGE; at++) {
      numbers.raise(page, at, number(body));
    }
  }

  private static long number(ByteBuffer body) {
    long number = body.getLong();
    if (number < 0 || number > NUMBER_LIMIT) {
      throw new BufferUnderflowException();
    }
    return number;
  }

  /** How many things of so many octets follow, if there is room for as many. */
  private static int count(ByteBuffer body, int leastBytes) {
    int count = body.getInt();
    if (count < 0 || count > body.remaining() / leastBytes) {
      throw new BufferUnderflowException();
    }
    return count;
  }

  private static Note note(ByteBuffer body) {
    long sequence = number(body);
    boolean isSoft = body.get() != 0;
    long epochSeconds = body.getLong();
    long[] tags = new long[count(body, Long.BYTES)];
    for (int i = 0; i < tags.length; i++) {
      tags[i] = body.getLong();
    }
    List<String> prefixes = new ArrayList<>();
    for (int count = count(body, Integer.BYTES); count > 0; count--) {
      byte[] text = new byte[count(body, Byte.BYTES)];
      body.get(text);
      prefixes.add(new String(text, StandardCharsets.ISO_8859_1));
    }
    return new Note(sequence, isSoft, epochSeconds, prefixes, Tags.ofBits(tags));
  }

  /**
   * Begins a file with all that holds now, and deletes the others.
   *
   * @param all what holds when it is asked
   */
  void begin(Supplier<PurgeNotes> all) throws IOException {
    this.all = all;
    List<String> before = names();
    StoreFile last = file;
    number++;
    String name = HexFormat.of().toHexDigits(number) + SUFFIX;
    directory.delete(name);
    file = directory.create(name);
    length = 0;
    if (last != null) {
      last.close();
    }
    try {
      writeCopy(all.get());
    } catch (IOException e) {
      directory.delete(name);
      throw e;
    }
    begunBytes = length;
    for (String older : before) {
      if (!older.equals(name)) {
        directory.delete(older);
      }
    }
  }

  /** Begins a file anew, after one could not be written. */
  void beginAnew() throws IOException {
    begin(all);
  }

  private void writeCopy(PurgeNotes now) throws IOException {
    write(header(number, FORM));
    for (Note note : now.notes()) {
      write(entry(encoded(note)));
    }
    for (int page = 0; page < PurgeNumbers.PAGES; page++) {
      long[] numbers = now.numbers().page(page);
      if (numbers != null) {
        ByteBuffer body =
            ByteBuffer.allocate(1 + Integer.BYTES + PAGE_BYTES).put(PAGE).putInt(page);
        body.asLongBuffer().put(numbers);
        write(entry(body.clear()));
      }
    }
    ByteBuffer state = ByteBuffer.allocate(1 + 2 * Long.BYTES);
    write(entry(state.put(STATE).putLong(now.last()).putLong(0).flip()));
  }

  /** Notes a purge. */
  void note(Note note) throws IOException {
    write(entry(encoded(note)));
    if (length - begunBytes > growthBytes) {
      begin(all);
    }
  }

  private static ByteBuffer encoded(Note note) {
    List<byte[]> prefixes =
        note.prefixes().stream().map(text -> text.getBytes(StandardCharsets.ISO_8859_1)).toList();
    int textBytes = prefixes.stream().mapToInt(text -> Integer.BYTES + text.length).sum();
    ByteBuffer body = ByteBuffer.allocate(26 + note.tags().size() * Long.BYTES + textBytes);
    body.put(NOTE).putLong(note.sequence()).put((byte) (note.isSoft() ? 1 : 0));
    body.putLong(note.epochSeconds()).putInt(note.tags().size());
    for (int i = 0; i < note.tags().size(); i++) {
      body.putLong(note.tags().at(i));
    }
    body.putInt(prefixes.size());
    prefixes.forEach(text -> body.putInt(text.length).put(text));
    return body.flip();
  }

  /** At the end of the file as it is now. */
  private ByteBuffer entry(ByteBuffer body) {
    ByteBuffer entry = ByteBuffer.allocate(FRAME_LENGTH + body.remaining());
    entry.putInt(body.remaining()).putInt(~body.remaining()).putInt(checksum(length, body));
    return entry.put(body).flip();
  }

  private void write(ByteBuffer octets) throws IOException {
    StoreFile to = file;
    if (to == null) {
      throw new IOException("the journal of purges is not open");
    }
    int count = octets.remaining();
    to.writeFully(octets, length);
    length += count;
  }

  private ByteBuffer header(int number, int form) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH);
    header.putLong(MARK).putLong(store).putInt(number).putInt(form);
    return header.putInt(CHECKED, Checksum.of(header.slice(0, CHECKED))).clear();
  }

  /** Forgets everything. */
  void delete() throws IOException {
    for (String name : names()) {
      directory.delete(name);
    }
  }

  void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }
}
