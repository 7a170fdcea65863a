package io.kamille.cache.disk;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One file of a store, that is only ever appended to.
 *
 * <p>Any thread may read while it holds a lease. Begins with one lease, the store's.
 */
final class Segment {

  /*
   *   ┌──────┬───────┬────────┬──────┬──────────┐
   *   │ mark │ store │ number │ zero │ CRC-32C  │   and records behind it
   *   └──────┴───────┴────────┴──────┴──────────┘
   *   0      8       16       20     28         32
   */
  static final int HEADER_LENGTH = 32;

  private static final long MARK = 0x4b414d494c4c4553L; // KAMILLES
  private static final int CHECKED = HEADER_LENGTH - Integer.BYTES;
  private static final String SUFFIX = ".segment";
  private static final int NAME_LENGTH = 8 + SUFFIX.length();

  private final StoreDirectory directory;
  private final StoreFile file;
  private final int number;
  private final Consumer<Segment> unused;
  private final AtomicInteger leases = new AtomicInteger(1);

  /** Written before the lease it belongs to is ended, read by whoever ends the last. */
  private volatile boolean isRetired;

  private volatile long length;

  private final ProvenRecords proven = new ProvenRecords();

  private Segment(
      StoreDirectory directory, StoreFile file, int number, long length, Consumer<Segment> unused) {
    this.directory = directory;
    this.file = file;
    this.number = number;
    this.length = length;
    this.unused = unused;
  }

  /**
   * A new segment, with its header written.
   *
   * @param unused is given the segment when its last lease has ended, and disposes of it
   */
  static Segment create(StoreDirectory directory, long store, int number, Consumer<Segment> unused)
      throws IOException {
    StoreFile file = directory.create(name(number));
    try {
      file.writeFully(header(store, number), 0);
      return new Segment(directory, file, number, HEADER_LENGTH, unused);
    } catch (Throwable failed) {
      file.close();
      directory.delete(name(number));
      throw failed;
    }
  }

  /** The segment in that file, or null if it is none of this store. */
  static @Nullable Segment open(
      StoreDirectory directory, long store, int number, Consumer<Segment> unused)
      throws IOException {
    StoreFile file = directory.open(name(number));
    boolean isOurs = false;
    try {
      ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH);
      file.readFully(header, 0);
      isOurs = header.flip().equals(header(store, number));
      long length = Math.min(file.length(), Extent.SEGMENT_BYTES_LIMIT);
      return isOurs ? new Segment(directory, file, number, length, unused) : null;
    } catch (EOFException e) {
      return null;
    } finally {
      if (!isOurs) {
        file.close();
      }
    }
  }

  /** Whether that file is too short for a header, as after a kill. */
  static boolean isTorn(StoreDirectory directory, String name) throws IOException {
    try (StoreFile file = directory.open(name)) {
      return file.length() < HEADER_LENGTH;
    }
  }

  static String name(int number) {
    return HexFormat.of().toHexDigits(number) + SUFFIX;
  }

  static boolean isName(String name) {
    return name.length() == NAME_LENGTH
        && name.endsWith(SUFFIX)
        && name.chars().limit(8).allMatch(HexFormat::isHexDigit)
        && name.charAt(0) == '0';
  }

  /** The number in a file name that {@link #isName}. */
  static int number(String name) {
    return HexFormat.fromHexDigits(name, 0, 8);
  }

  private static ByteBuffer header(long store, int number) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH);
    header.putLong(MARK).putLong(store).putInt(number);
    return header.putInt(CHECKED, Checksum.of(header.slice(0, CHECKED))).clear();
  }

  int number() {
    return number;
  }

  /** How many octets of it can be read. */
  long length() {
    return length;
  }

  /** Appends what remains in {@code octets}. Confined to the store's thread. */
  void append(ByteBuffer octets) throws IOException {
    long start = length;
    int count = octets.remaining();
    file.writeFully(octets, start);
    length = start + count;
  }

  /** Ends the file where it was before an append that failed; false if that is impossible. */
  boolean cut() {
    try {
      file.truncate(length);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Fills what remains of {@code target}; needs a lease. */
  void read(ByteBuffer target, long offset) throws IOException {
    file.readFully(target, offset);
  }

  /** Deletes all segments of a directory. */
  static boolean deleteAll(StoreDirectory directory) throws IOException {
    boolean isAny = false;
    for (String name : directory.names()) {
      if (isName(name)) {
        directory.delete(name);
        isAny = true;
      }
    }
    return isAny;
  }

  /** Which of its records were read whole and found right, by this process. */
  ProvenRecords proven() {
    return proven;
  }

  /** Whether regions of it can be sent. */
  boolean isSendable() {
    return file.channel() != null;
  }

  /**
   * What regions of it are sent from: open for as long as somebody holds a lease.
   *
   * @throws IllegalStateException unless {@link #isSendable}
   */
  FileChannel channel() {
    FileChannel channel = file.channel();
    if (channel == null) {
      throw new IllegalStateException("file: " + file + " (expected: one of the file system)");
    }
    return channel;
  }

  /** Has the kernel read those octets into its memory. Waits for it; needs a lease. */
  void fetch(long offset, long count) throws IOException {
    file.fetch(offset, count);
  }

  /** Takes a lease if any is left. */
  boolean tryRetain() {
    return leases.getAndUpdate(held -> held == 0 ? 0 : held + 1) > 0;
  }

  /** Takes one more lease; the caller holds one. */
  void retain() {
    if (!tryRetain()) {
      throw new IllegalStateException("leases: 0 (expected: a lease held by the caller)");
    }
  }

  /** Ends one lease; the last one ends the segment. */
  void release() {
    int left = leases.decrementAndGet();
    if (left < 0) {
      throw new IllegalStateException("leases: 0 (expected: a lease held by the caller)");
    }
    if (left == 0) {
      unused.accept(this);
    }
  }

  /** Ends the store's lease, and the file with the last one. */
  void retire() {
    isRetired = true;
    release();
  }

  /** Closes the file, and deletes it if the segment was retired. After the last lease. */
  void dispose() throws IOException {
    file.close();
    if (isRetired) {
      directory.delete(name(number));
    }
  }

  @Override
  public String toString() {
    return "Segment[" + number + ", length=" + length + "]";
  }
}
