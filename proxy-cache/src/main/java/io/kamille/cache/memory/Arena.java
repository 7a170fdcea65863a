package io.kamille.cache.memory;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The memory that stored octets lie in: addresses that are taken at start, never more than its
 * capacity, outside the heap.
 *
 * <p>Any thread. Whatever is asked for and cannot be had is a value ({@code null} or {@code
 * false}). One {@link StoredBytes} per answer holds its blocks until its last lease ends.
 */
public final class Arena implements AutoCloseable {

  /*
   * Slabs of 64 KiB are given out in runs of 64-octet granules. A request up to a slab's size looks
   * for one run, in the slab whose longest run fits it best, so that a small object is one address
   * and one iovec. A larger one takes whole slabs, neighbours where it can, and a run for the rest.
   * When no run is long enough it gets several, the longest first: a request fails only if fewer
   * granules are free than it needs. Memory is therefore never lost to fragmentation, which only
   * makes lists of blocks longer: nine per object when every granule is used, one when the owner
   * keeps the headroom free (ADR 8).
   *
   * That promise holds under concurrency because a request first subtracts its granules from one
   * counter, and then collects them from the Shards.
   *
   * The shards have a monitor each. A loop names its home shard, so loops that
   * fill and free do not meet in a lock unless memory is short. Readers take no lock at all.
   *
   * The memory is an anonymous mapping, or that of a file in memory, so that large content can be
   * sent by sendfile. A region of that file lies in whole slabs of one block and nothing else;
   * blocks of which regions were given out come back through Renewal (ADR 12).
   */

  /** The least capacity, in octets. */
  public static final long CAPACITY_MINIMUM_BYTES = 1 << 20;

  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final long CAPACITY_MAXIMUM_BYTES = 1L << 46;

  /** Below that, copying costs less than a system call of its own does. */
  static final int REGION_MINIMUM_BYTES = 32 << 10;

  private static final int SLABS_PER_SHARD_MINIMUM = 1024;
  private static final int SHARDS_MAXIMUM = 16;
  private static final long HEADROOM_DIVISOR = 32;

  private final java.lang.foreign.Arena life;
  private final @Nullable MemoryFile file;
  private final @Nullable Renewal renewal;
  private final MemorySegment memory;
  private final MemorySegment readable;
  private final long address;
  private final long capacityGranules;
  private final int pageBytes;
  private final Shards shards;

  private final Ledger ledger;
  private final LongAdder regionBytes = new LongAdder();

  private Arena(
      java.lang.foreign.Arena life,
      MemorySegment memory,
      @Nullable MemoryFile file,
      int shardCount,
      Ledger ledger) {
    this.life = life;
    this.memory = memory;
    this.file = file;
    this.ledger = ledger;
    renewal = file == null ? null : new Renewal(this, file);
    pageBytes = Folios.bytes(Path.of("/"));
    readable = memory.asReadOnly();
    address = memory.address();
    capacityGranules = memory.byteSize() / Block.GRANULE_BYTES;
    shards = new Shards(memory.byteSize() / Slab.BYTES, shardCount);
  }

  /**
   * Takes {@code capacityBytes}, rounded down to whole slabs of 64 KiB. The kernel supplies pages
   * when they are first written, or by {@link #prefault}.
   *
   * @throws IllegalArgumentException if the capacity is less than 1 MiB or more than 64 TiB
   * @throws IllegalStateException if the kernel refuses
   */
  public static Arena open(long capacityBytes) {
    return open(capacityBytes, shardsOf(capacityBytes));
  }

  /**
   * As {@link #open(long)}, and large content can be sent without copying, if the kernel has files
   * in memory. If not, one line in the log says why, and everything is copied.
   */
  public static Arena openSendable(long capacityBytes) {
    return open(capacityBytes, shardsOf(capacityBytes), MemoryFile::open);
  }

  private static int shardsOf(long capacityBytes) {
    long useful = Math.max(1, capacityBytes / Slab.BYTES / SLABS_PER_SHARD_MINIMUM);
    int shards = Math.min(Runtime.getRuntime().availableProcessors(), SHARDS_MAXIMUM);
    return (int) Math.min(useful, shards);
  }

  static Arena open(long capacityBytes, int shards) {
    return open(capacityBytes, shards, null);
  }

  static Arena open(long capacityBytes, int shards, MemoryFile.@Nullable Opening opening) {
    if (capacityBytes < CAPACITY_MINIMUM_BYTES || capacityBytes > CAPACITY_MAXIMUM_BYTES) {
      throw new IllegalArgumentException(
          "capacityBytes: "
              + capacityBytes
              + " (expected: from "
              + CAPACITY_MINIMUM_BYTES
              + " to "
              + CAPACITY_MAXIMUM_BYTES
              + ")");
    }
    long bytes = capacityBytes / Slab.BYTES * Slab.BYTES;
    var life = java.lang.foreign.Arena.ofShared();
    MemoryFile file = opening == null ? null : fileOf(opening, bytes, life);
    MemorySegment memory = file == null ? AnonymousMapping.map(bytes, life) : file.memory();
    return new Arena(life, memory, file, shards, new Ledger(bytes / Block.GRANULE_BYTES));
  }

  /**
   * Has the kernel supply all pages now, and keeps them.
   *
   * @throws IllegalStateException if it has too little memory
   */
  public void prefault() {
    long result = file == null ? SystemCalls.populate(address, memory.byteSize()) : file.keepFull();
    if (result < 0) {
      throw new IllegalStateException(
          "cache.memory.prefault: the kernel supplied less than "
              + memory.byteSize()
              + " octets, errno "
              + -result
              + " (expected: so much free memory, and Linux 5.14 or later)");
    }
  }

  /** A file is mapped without asking whether so much memory exists, so that is asked first. */
  private static @Nullable MemoryFile fileOf(
      MemoryFile.Opening opening, long bytes, java.lang.foreign.Arena life) {
    AnonymousMapping.check(bytes);
    try {
      return opening.open(bytes, life);
    } catch (IOException e) {
      LOG.log(
          Level.WARNING, "stored content is sent by copying, not by sendfile: " + e.getMessage());
      return null;
    }
  }

  /**
   * Opens a writer that already has the memory for {@code lengthBytes} octets.
   *
   * @return {@code null} if there is not enough free memory
   * @throws IllegalArgumentException if the length is negative
   */
  public @Nullable ArenaWriter writer(long lengthBytes, int home) {
    if (lengthBytes < 0) {
      throw new IllegalArgumentException(
          "lengthBytes: " + lengthBytes + " (expected: zero or more)");
    }
    long granules = Block.granulesFor(lengthBytes);
    return reserve(granules) ? new ArenaWriter(this, home, granules) : null;
  }

  /** How many octets the arena holds in all. */
  public long capacityBytes() {
    return capacityGranules * Block.GRANULE_BYTES;
  }

  /**
   * How many octets are taken, in whole granules: stored, being written, still leased, or charged.
   */
  public long usedBytes() {
    return capacityBytes() - freeBytes();
  }

  /** How many octets are left. Whatever needs no more than this can be had. */
  public long freeBytes() {
    return ledger.free() * Block.GRANULE_BYTES;
  }

  /** How large the pages are that the host gave to such memory when it was opened. */
  public int pageBytes() {
    return pageBytes;
  }

  /** Whether large content can be sent without copying at this moment. */
  public boolean isSendable() {
    return renewal != null && renewal.works();
  }

  /**
   * How many of the used octets come free soon, without anybody's doing: their content was sent as
   * regions, and they are being given fresh pages.
   */
  public long renewingBytes() {
    return renewal == null ? 0 : renewal.pendingBytes();
  }

  /** How many of the used octets never come free, because the kernel refused fresh pages. */
  public long retiredBytes() {
    return renewal == null ? 0 : renewal.retiredBytes();
  }

  /**
   * Counts memory that lies elsewhere but belongs to what is stored, so that all of it stays below
   * the capacity.
   *
   * @param changeBytes how much more, or, negative, less; in whole granules of 64 octets
   * @return false if more is not free; then nothing has changed. Less is always granted
   */
  public boolean charge(long changeBytes) {
    return ledger.charge(changeBytes / Block.GRANULE_BYTES);
  }

  /** How many of the used octets are counted by {@link #charge}, and lie elsewhere. */
  public long chargedBytes() {
    return ledger.charged() * Block.GRANULE_BYTES;
  }

  /** How many of the used octets writers hold that are still open. */
  public long writingBytes() {
    return ledger.writing() * Block.GRANULE_BYTES;
  }

  /** How many octets have left as regions since the start. */
  public long regionBytes() {
    return regionBytes.sum();
  }

  /** A region is given back, of which so many octets were sent. Any thread. */
  void regionLeft(long sentBytes) {
    regionBytes.add(sentBytes);
  }

  /**
   * How many octets of an arena of that capacity the owner of the content should keep free, by
   * evicting, so that nearly every object lies in one block. Fills in flight may use them.
   */
  public static long headroomBytes(long capacityBytes) {
    return capacityBytes / HEADROOM_DIVISOR;
  }

  Ledger ledger() {
    return ledger;
  }

  Shards shards() {
    return shards;
  }

  /**
   * Gives the memory back to the kernel.
   *
   * @throws IllegalStateException if something still lies in it: a lease was never released
   */
  @Override
  public void close() {
    checkUnused(ledger.live() == 0);
    if (renewal != null) {
      renewal.close();
    }
    checkUnused(usedBytes() == retiredBytes());
    life.close();
    if (file != null) {
      file.close();
    }
  }

  private void checkUnused(boolean isUnused) {
    if (!isUnused) {
      throw new IllegalStateException(
          "arena: usedBytes="
              + usedBytes()
              + ", live="
              + ledger.live()
              + " (expected: every lease released)");
    }
  }

  /** Sets {@code granules} aside; true means that {@link #collect} will find them. */
  boolean reserve(long granules) {
    return ledger.reserve(granules);
  }

  /** Turns {@code granules} that were reserved into blocks at the end of {@code blocks}. */
  void collect(Blocks blocks, long granules, int home) {
    shards.collect(blocks, granules, home);
  }

  /** Returns {@code block} to the free granules. */
  void give(long block) {
    shards.give(block);
    ledger.give(Block.granules(block));
  }

  /** As {@link #give}, for a block of which regions were given out; may come free later. */
  void giveSent(long block) {
    if (renewal != null && renewal.wants(block)) {
      renewal.give(block);
    } else {
      give(block);
    }
  }

  /** Those octets as a region, which takes over one lease on {@code bytes}. */
  FileRegion region(StoredBytes bytes, long offset, long length) {
    if (file == null) {
      throw new IllegalStateException("arena: has no file (expected: sendable)");
    }
    return new LeasedRegion(bytes, file.channel(), offset, length);
  }

  /** Copies from {@code content}, which it borrows, to {@code offset} from the arena's start. */
  void write(ByteBuf content, int index, long offset, int length) {
    if (content.hasArray()) {
      int from = content.arrayOffset() + index;
      MemorySegment.copy(content.array(), from, memory, ValueLayout.JAVA_BYTE, offset, length);
    } else {
      content.getBytes(index, memory.asSlice(offset, length).asByteBuffer());
    }
  }

  /** The whole arena, for reading at offsets from its start. */
  MemorySegment readable() {
    return readable;
  }

  /** Where the arena begins. */
  long address() {
    return address;
  }
}
