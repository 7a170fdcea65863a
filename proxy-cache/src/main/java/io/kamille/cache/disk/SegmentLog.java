package io.kamille.cache.disk;

import io.kamille.cache.store.StoredResponse;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The segments of a store: appends to the newest, forgets the oldest. Confined to the store's
 * thread, but for {@link #retained} and the counts.
 */
final class SegmentLog {

  /*
   * A record is in the index only after its octets are in the file. Whatever was removed between,
   * or had to make room in the index, is followed by a replacement without a response, since its
   * record is in the file nevertheless, and nobody would know of it when its key is removed.
   *
   * When a segment is full the next is begun, and the oldest are forgotten until the new one fits
   * below the capacity even when full. What was asked for since it was written is copied to
   * the new segment, up to half of it: so at least half of each segment is for what is new. Nothing
   * newer can lie before such a copy, because everything written before is in the index by then,
   * and only what the index still points to is copied.
   *
   * Each process begins a segment of its own, however little was written to the last; the number of
   * files is bounded too, since each is kept open.
   *
   * A file whose header is neither ours nor cut off may hide removals as any damage, so it is given
   * up with all that are older; all of them are if the store has another number.
   */
  private static final int GROUP_RECORDS = 256;
  private static final int FILES_PER_FULL_SEGMENT = 4;
  private static final int COPY_BYTES = 64 << 10;
  private static final int UNWRITTEN_LIMIT = 4096;
  private static final System.Logger LOG = System.getLogger("kamille.cache");

  /** A record in the block, not in the index yet. */
  private record Pending(RecordHeader header, @Nullable Extent from, BooleanSupplier isCurrent) {}

  private final StoreDirectory directory;
  private final long store;
  private final long capacityBytes;
  private final int segmentBytes;
  private final DiskIndex index;
  private final DiskCounts counts;
  private final Consumer<Segment> unused;
  private final ConcurrentNavigableMap<Integer, Segment> segments = new ConcurrentSkipListMap<>();
  private final Recovery recovery;
  private final ByteBuffer block;
  private final byte[] copied = new byte[COPY_BYTES];

  private List<Pending> pending = new ArrayList<>();

  /** Removals and replacements that may not be in the files yet. */
  private Set<RecordHeader> unwritten = new LinkedHashSet<>();

  private @Nullable SegmentWriter writer;
  private int lastNumber;

  /**
   * Opens what is there; what it says is for {@link #recover}.
   *
   * @param unused disposes of segments that nobody uses any more
   */
  SegmentLog(
      StoreDirectory directory,
      long store,
      long capacityBytes,
      int segmentBytes,
      DiskIndex index,
      DiskCounts counts,
      Consumer<Segment> unused)
      throws IOException {
    this.directory = directory;
    this.store = store;
    this.capacityBytes = capacityBytes;
    this.segmentBytes = segmentBytes;
    this.index = index;
    this.counts = counts;
    this.unused = unused;
    this.block = ByteBuffer.allocateDirect(Math.min(segmentBytes, SegmentWriter.BLOCK_BYTES));
    openSegments();
    this.recovery =
        new Recovery(index, store, counts, segments.descendingMap().values(), this::drop);
  }

  private void openSegments() throws IOException {
    List<String> newestFirst =
        directory.names().stream()
            .filter(Segment::isName)
            .sorted(Comparator.reverseOrder())
            .toList();
    boolean isDamaged = false;
    for (String name : newestFirst) {
      int number = Segment.number(name);
      lastNumber = Math.max(lastNumber, number);
      try {
        Segment segment = isDamaged ? null : Segment.open(directory, store, number, unused);
        if (segment != null) {
          segments.put(number, segment);
          continue;
        }
        isDamaged |= !Segment.isTorn(directory, name);
      } catch (IOException e) {
        isDamaged = true;
      }
      directory.delete(name);
    }
  }

  Recovery recovery() {
    return recovery;
  }

  /** The segment with that number, with a lease that the caller owns; null if it is gone. */
  @Nullable Segment retained(int number) {
    Segment segment = segments.get(number);
    return segment != null && segment.tryRetain() ? segment : null;
  }

  /** What the files take. Any thread. */
  long usedBytes() {
    long used = 0;
    for (Segment segment : segments.values()) {
      used += segment.length();
    }
    return used;
  }

  /** Appends a response, if it is still current. Borrows it. */
  void write(
      StoredResponse response, long keyHigh, long keyLow, long sequence, BooleanSupplier isCurrent)
      throws IOException {
    if (!isCurrent.getAsBoolean() || response.contentLength() > segmentBytes) {
      counts.droppedWrites.increment();
      return;
    }
    RecordDraft draft = new RecordDraft(response, store, keyHigh, keyLow, sequence);
    long length = draft.header().recordLength();
    if (length > segmentBytes - Segment.HEADER_LENGTH) {
      counts.droppedWrites.increment();
      return;
    }
    SegmentWriter to = writerFor(length);
    RecordHeader placed = draft.header().at(to.segment().number(), to.offset());
    pending.add(new Pending(placed, null, isCurrent));
    to.put(placed);
    draft.writeTo(to);
    counts.writtenBytes.add(length);
    if (pending.size() >= GROUP_RECORDS) {
      flush();
    }
  }

  /** Appends that nothing written under this key before is to be used. */
  void remove(long keyHigh, long keyLow, long sequence) throws IOException {
    put(RecordHeader.removal(store, keyHigh, keyLow, sequence));
  }

  /** Appends that nothing of that variant written under this key before is to be used. */
  void replace(long keyHigh, long keyLow, int variant) throws IOException {
    put(RecordHeader.replacement(store, keyHigh, keyLow, variant));
  }

  private void put(RecordHeader header) throws IOException {
    unwritten.add(header);
    SegmentWriter to = writerFor(RecordHeader.LENGTH);
    to.put(header.at(to.segment().number(), to.offset()));
    unwritten.add(header);
    if (unwritten.size() >= UNWRITTEN_LIMIT) {
      flush();
    }
  }

  /**
   * What an append that failed has left: records that are in the file whole can be found, and
   * others are forgotten. Whether removals are still to be written.
   */
  boolean salvage() {
    SegmentWriter failed = writer;
    if (failed != null) {
      writer = null;
      block.clear();
      Segment segment = failed.segment();
      boolean isCut = segment.cut();
      List<RecordHeader> lost = new ArrayList<>();
      for (Pending record : pending) {
        Extent extent = record.header().extent();
        if ((long) extent.offset() + extent.length() <= segment.length()) {
          publish(record, lost);
        } else if (!isCut && record.from() == null) {
          lost.add(record.header().replacement());
        }
      }
      unwritten.addAll(lost);
      if (segment.length() == Segment.HEADER_LENGTH) {
        drop(segment);
      }
    }
    pending = new ArrayList<>();
    return !unwritten.isEmpty();
  }

  /** Appends the removals that {@link #salvage} has left; all of them are left if it fails. */
  void rewrite() throws IOException {
    List<RecordHeader> owed = List.copyOf(unwritten);
    try {
      for (RecordHeader header : owed) {
        put(header);
      }
    } catch (IOException | RuntimeException failed) {
      // A flush on the way forgot them all, also those that were not put yet.
      unwritten.addAll(owed);
      throw failed;
    }
  }

  /**
   * Forgets a segment of which something cannot be read. What its records say of older ones is said
   * again; if that cannot be read either, the older ones are forgotten, too.
   */
  void condemn(int number, IOException why) throws IOException {
    recovery.finish();
    Segment segment = segments.get(number);
    if (segment == null) {
      return;
    }
    LOG.log(Level.WARNING, "the disk tier gives up what cannot be read: " + segment + ": " + why);
    counts.damagedRecords.increment();
    if (writer != null && writer.segment() == segment) {
      flush();
      writer = null;
    }
    List<RecordHeader> headers = recovery.headers(segment);
    for (DiskIndexTable.IndexedRecord entry : index.in(number)) {
      index.remove(entry.key(), entry.extent());
    }
    if (headers == null) {
      for (Segment older : segments.headMap(number, false).values()) {
        index.in(older.number()).forEach(entry -> index.remove(entry.key(), entry.extent()));
        drop(older);
      }
    } else {
      for (RecordHeader header : headers) {
        sayAgain(header);
      }
      flush();
    }
    drop(segment);
  }

  /** A record of the same variant that is found now lies behind, and says as much. */
  private void sayAgain(RecordHeader header) throws IOException {
    if (header.kind() == RecordHeader.RecordType.REMOVAL) {
      remove(header.keyHigh(), header.keyLow(), header.sequence());
    } else if (Arrays.stream(index.find(header.keyLow()))
        .noneMatch(extent -> extent.variant() == header.variant())) {
      replace(header.keyHigh(), header.keyLow(), header.variant());
    }
  }

  /** Writes what was appended, and makes it found. Whether there was anything. */
  boolean flush() throws IOException {
    SegmentWriter from = writer;
    if (from == null || (pending.isEmpty() && !from.hasUnwritten())) {
      return false;
    }
    from.flush();
    unwritten.clear();
    List<Pending> written = pending;
    pending = new ArrayList<>();
    List<RecordHeader> lost = new ArrayList<>();
    written.forEach(record -> publish(record, lost));
    for (RecordHeader header : lost) {
      put(header);
    }
    return true;
  }

  /** Makes a record found; what is in a file and not found any more goes to {@code lost}. */
  private void publish(Pending record, List<RecordHeader> lost) {
    RecordHeader header = record.header();
    if (record.from() != null) {
      index.move(header.keyLow(), record.from(), header.extent());
      return;
    }
    int variant = index.put(header.keyLow(), header.extent(), record.isCurrent());
    if (variant != DiskIndex.ADDED) {
      lost.add(
          RecordHeader.replacement(
              store,
              header.keyHigh(),
              header.keyLow(),
              variant == DiskIndex.REFUSED ? header.variant() : variant));
    }
  }

  /** Takes a part of what was there at the start into the index; false if nothing is left. */
  boolean recover() throws IOException {
    boolean isAny = recovery.step();
    for (RecordHeader header : recovery.crowdedOut()) {
      replace(header.keyHigh(), header.keyLow(), header.variant());
      isAny = true;
    }
    return isAny;
  }

  /** Forgets all segments. The index is cleared by the caller, before. */
  void clear() throws IOException {
    recovery.cancel();
    pending.clear();
    unwritten.clear();
    block.clear();
    writer = null;
    segments.values().forEach(this::drop);
  }

  /** Forgets everything, and makes sure that no later process takes it for good. */
  void giveUp() throws IOException {
    try {
      directory.delete(StoreIdentity.NAME);
    } finally {
      clear();
    }
  }

  /** Deletes what was forgotten and is still sent: nobody is to take it for stored. */
  void deleteForgotten() throws IOException {
    for (String name : directory.names()) {
      if (Segment.isName(name) && !segments.containsKey(Segment.number(name))) {
        directory.delete(name);
      }
    }
  }

  /** Ends the store's leases; the files stay. */
  void close() {
    for (Segment segment : segments.values()) {
      segments.remove(segment.number());
      segment.release();
    }
  }

  private SegmentWriter writerFor(long length) throws IOException {
    if (writer != null && writer.hasRoom(length)) {
      return writer;
    }
    while (flush()) {
      if (writer != null && writer.hasRoom(length)) {
        return writer;
      }
    }
    SegmentWriter begun = begin();
    makeRoom(begun);
    return begun;
  }

  private SegmentWriter begin() throws IOException {
    lastNumber++;
    if (lastNumber >= Extent.SEGMENTS) {
      throw new IOException("segment: " + lastNumber + " (expected: < " + Extent.SEGMENTS + ")");
    }
    Segment segment = Segment.create(directory, store, lastNumber, unused);
    segments.put(lastNumber, segment);
    SegmentWriter begun = new SegmentWriter(segment, segmentBytes, block);
    writer = begun;
    return begun;
  }

  private void makeRoom(SegmentWriter to) throws IOException {
    long budget = segmentBytes / 2L;
    while (isOver(to)) {
      recovery.finish();
      Segment oldest = segments.firstEntry().getValue();
      if (oldest == to.segment()) {
        return;
      }
      budget -= evict(oldest, to, budget);
    }
  }

  private boolean isOver(SegmentWriter to) {
    long others = usedBytes() - to.segment().length();
    return others > capacityBytes - segmentBytes - segmentBytes / 2
        || segments.size() > FILES_PER_FULL_SEGMENT * (capacityBytes / segmentBytes);
  }

  /** Forgets a segment but for what was asked for, and says how many octets that was. */
  private long evict(Segment oldest, SegmentWriter to, long budget) throws IOException {
    long kept = 0;
    for (DiskIndexTable.IndexedRecord entry : index.in(oldest.number())) {
      int length = entry.extent().length();
      if (entry.wasAskedFor()
          && kept + length <= budget
          && to.hasRoom(length)
          && copy(oldest, entry.extent(), to)) {
        kept += length;
        counts.readmissions.increment();
      } else {
        index.remove(entry.key(), entry.extent());
      }
    }
    flush();
    drop(oldest);
    counts.evictedSegments.increment();
    return kept;
  }

  private boolean copy(Segment from, Extent extent, SegmentWriter to) throws IOException {
    if (!hasAll(from, extent)) {
      counts.damagedRecords.increment();
      return false;
    }
    byte[] octets = new byte[RecordHeader.LENGTH];
    reads(from, ByteBuffer.wrap(octets), extent.offset());
    RecordHeader header = RecordHeader.parse(octets, store, extent.segment(), extent.offset());
    if (header == null || header.recordLength() != extent.length()) {
      counts.damagedRecords.increment();
      return false;
    }
    RecordHeader placed = header.at(to.segment().number(), to.offset());
    to.put(placed);
    boolean isWhole = true;
    long end = (long) extent.offset() + extent.length();
    for (long at = (long) extent.offset() + RecordHeader.LENGTH; at < end; at += copied.length) {
      ByteBuffer step = ByteBuffer.wrap(copied, 0, (int) Math.min(copied.length, end - at));
      isWhole &= reads(from, step.slice(), at);
      to.put(step);
    }
    if (isWhole) {
      pending.add(new Pending(placed, extent, () -> true));
    } else {
      counts.damagedRecords.increment();
    }
    return isWhole;
  }

  /** Whether a record is there to its end: somebody may have shortened the file. */
  private static boolean hasAll(Segment from, Extent extent) {
    return reads(from, ByteBuffer.allocate(1), (long) extent.offset() + extent.length() - 1);
  }

  private static boolean reads(Segment from, ByteBuffer target, long offset) {
    try {
      from.read(target, offset);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void drop(Segment segment) {
    segments.remove(segment.number());
    segment.retire();
  }
}
