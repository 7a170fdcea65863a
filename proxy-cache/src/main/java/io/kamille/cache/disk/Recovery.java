package io.kamille.cache.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Fills the index from the segments that an earlier process left, while it is used. Confined to the
 * store's thread, but for what other threads say is removed.
 */
final class Recovery {

  /*
   * Segments are read from the newest to the oldest, and the records of one are taken from its end:
   * so the first record met of a variant is the one that counts, a removal is met before what it
   * removes, and whatever is written or removed meanwhile is newer than all of this. Of a record
   * the header is read and proven; its content is proven whenever it is read.
   *
   * A segment whose process was killed ends in a part of a record, or in zeros where the file
   * system had grown the file before the octets came. A header that is neither whole nor zero is
   * damage, which may hide removals: the records of that segment and of all older ones are given
   * up, and so they are if it cannot be read.
   *
   * What the files remove is kept in a filter whose size depends on theirs alone. It takes a few
   * records in a thousand for removed, which cost a miss each, and more of them if files of more
   * than 8 GiB remove more than it has room for.
   */
  private static final int WINDOW_BYTES = 4096;
  private static final int FILTER_LIMIT = 8 << 20;
  private static final int FILTER_MINIMUM = 1 << 10;

  private final DiskIndex index;
  private final long store;
  private final DiskCounts counts;
  private final Consumer<Segment> givenUp;
  private final Deque<Segment> segments;
  private final Set<Long> removed = ConcurrentHashMap.newKeySet();
  private final Set<Variant> replaced = ConcurrentHashMap.newKeySet();
  private KeyFilter removedByFiles;
  private final List<RecordHeader> crowdedOut = new ArrayList<>();

  /** A variant of a key. */
  private record Variant(long key, int variant) {

    static final int ALL = -1;

    /** Half of a key is as good as random. */
    long hash() {
      return (key ^ variant + 1) * 0x9e3779b97f4a7c15L;
    }
  }

  /** Set before the index is cleared. */
  private volatile boolean isCancelled;

  /** Once set, removals need not be remembered any more. */
  private volatile boolean isDone;

  /**
   * @param newestFirst the segments to read
   * @param givenUp is given each segment whose records are not to be used
   */
  Recovery(
      DiskIndex index,
      long store,
      DiskCounts counts,
      Collection<Segment> newestFirst,
      Consumer<Segment> givenUp) {
    this.index = index;
    this.store = store;
    this.counts = counts;
    this.segments = new ArrayDeque<>(newestFirst);
    this.givenUp = givenUp;
    this.isDone = newestFirst.isEmpty();
    long bytes = newestFirst.stream().mapToLong(Segment::length).sum();
    this.removedByFiles = new KeyFilter(filterWords(bytes));
  }

  /** How large a filter is that takes what files of that many octets remove. */
  static int filterWords(long bytes) {
    return Math.clamp(Long.highestOneBit(bytes >> 10), FILTER_MINIMUM, FILTER_LIMIT);
  }

  /** Whether everything is in the index. */
  boolean isDone() {
    return isDone;
  }

  /** Keeps records of that key out of the index, if they are older than now. Any thread. */
  void removed(long key) {
    if (!isDone) {
      removed.add(key);
    }
  }

  /** Keeps records of that variant out of the index, if they are older than now. Any thread. */
  void replaced(long key, int variant) {
    if (!isDone) {
      replaced.add(new Variant(key, variant));
    }
  }

  /** Keeps everything that is not in the index yet out of it. Any thread. */
  void cancel() {
    isCancelled = true;
  }

  /** Takes in one segment; false if nothing is left to do. */
  boolean step() throws IOException {
    Segment segment = isCancelled ? null : segments.poll();
    if (segment == null) {
      return end();
    }
    List<RecordHeader> headers = headers(segment);
    if (headers != null) {
      headers.reversed().forEach(this::take);
    } else {
      counts.damagedRecords.increment();
      givenUp.accept(segment);
      segments.forEach(givenUp);
      segments.clear();
    }
    return true;
  }

  /** Takes in all that is left. */
  void finish() throws IOException {
    boolean isMore = true;
    while (isMore) {
      isMore = step();
    }
  }

  private boolean end() {
    boolean wasDone = isDone;
    isDone = true;
    segments.clear();
    removed.clear();
    replaced.clear();
    removedByFiles = new KeyFilter(1);
    return !wasDone;
  }

  private void take(RecordHeader header) {
    long key = header.keyLow();
    Variant variant = new Variant(key, header.variant());
    long all = new Variant(key, Variant.ALL).hash();
    switch (header.kind()) {
      case REMOVAL -> removedByFiles.add(all);
      case REPLACEMENT -> removedByFiles.add(variant.hash());
      case RESPONSE -> {
        if (removedByFiles.mayHave(all) || removedByFiles.mayHave(variant.hash())) {
          return;
        }
        BooleanSupplier isCurrent =
            () -> !isCancelled && !removed.contains(key) && !replaced.contains(variant);
        if (index.putOlder(key, header.extent(), isCurrent) == header.variant()) {
          crowdedOut.add(header);
        }
      }
    }
  }

  /**
   * The records that found no room in the index since the last call, because their keys have too
   * many that are younger. No later process may take them in: it would not learn what was removed.
   */
  List<RecordHeader> crowdedOut() {
    List<RecordHeader> taken = List.copyOf(crowdedOut);
    crowdedOut.clear();
    return taken;
  }

  /** The headers up to the end or a torn record; null if one is damaged or cannot be read. */
  @Nullable List<RecordHeader> headers(Segment segment) {
    List<RecordHeader> headers = new ArrayList<>();
    try {
      return scan(segment, headers) ? headers : null;
    } catch (IOException e) {
      return null;
    }
  }

  private boolean scan(Segment segment, List<RecordHeader> headers) throws IOException {
    byte[] window = new byte[WINDOW_BYTES];
    byte[] octets = new byte[RecordHeader.LENGTH];
    long windowStart = 0;
    long windowEnd = 0;
    long offset = Segment.HEADER_LENGTH;
    while (offset + RecordHeader.LENGTH <= segment.length()) {
      if (offset < windowStart || offset + RecordHeader.LENGTH > windowEnd) {
        int count = (int) Math.min(window.length, segment.length() - offset);
        segment.read(ByteBuffer.wrap(window, 0, count), offset);
        windowStart = offset;
        windowEnd = offset + count;
      }
      System.arraycopy(window, (int) (offset - windowStart), octets, 0, octets.length);
      RecordHeader header = RecordHeader.parse(octets, store, segment.number(), (int) offset);
      if (header == null) {
        return isZero(octets);
      }
      if (offset + header.recordLength() > segment.length()) {
        return true;
      }
      headers.add(header);
      offset += header.recordLength();
    }
    return true;
  }

  private static boolean isZero(byte[] octets) {
    for (byte octet : octets) {
      if (octet != 0) {
        return false;
      }
    }
    return true;
  }
}
