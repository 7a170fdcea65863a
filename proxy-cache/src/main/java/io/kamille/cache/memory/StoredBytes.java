package io.kamille.cache.memory;

import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCounted;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A sequence of octets that lies in the arena for as long as somebody holds a lease on it.
 *
 * <p>Any thread. Begins with one lease, the creator's. Who holds a lease may read and may pass more
 * leases on; when the last ends the memory goes back to the arena, once. While an {@link
 * ArenaWriter} still appends, everything up to {@link #length()} can be read already.
 */
public final class StoredBytes extends Blocks implements StoredOctets {

  /*
   * The length is published with release after the octets and their blocks are in place, and read
   * with acquire: what lies below it is complete for the reader. The lease count is changed by CAS
   * only, so that it cannot rise again from zero nor fall below it.
   *
   *  31 30 29  28      27 26                           0
   * ┌─────┬───┬───────────┬──────────────────────────────┐
   * │ 0   │ S │ sendings  │ leases                       │
   * └─────┴───┴───────────┴──────────────────────────────┘
   *
   * S is set by somebody who holds a lease, before the first region is given out, in the same word:
   * so whoever ends the last lease sees it. Pages that were sent have to be replaced afterwards,
   * which costs what regions save in about two sendings where a slab is one folio, and in ten where
   * it is sixteen pages; so the first three are copied, and what is hardly ever asked for never
   * goes as regions.
   *
   * Hits are counted beside the leases and without a CAS: whoever counts has just taken a lease, so
   * the cache line is his already, and a lost count does no harm.
   *
   * A region lies in whole slabs below the published length. They stay in their block when a writer
   * gives back its unused end, so regions may be given out before that, too.
   */

  private static final int LEASES_MASK = (1 << 27) - 1;
  private static final int SENDING = 1 << 27;
  private static final int SENDINGS_MASK = 3 << 27;
  private static final int SENT = 1 << 29;

  private static final VarHandle LEASES;
  private static final VarHandle LENGTH;
  private static final VarHandle HITS;

  static {
    try {
      var lookup = MethodHandles.lookup();
      LEASES = lookup.findVarHandle(StoredBytes.class, "leases", int.class);
      LENGTH = lookup.findVarHandle(StoredBytes.class, "length", long.class);
      HITS = lookup.findVarHandle(StoredBytes.class, "hits", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Arena arena;

  @SuppressWarnings("UnusedVariable") // used through LEASES
  private int leases = 1;

  @SuppressWarnings("UnusedVariable") // used through HITS
  private int hits;

  @SuppressWarnings("UnusedVariable") // used through LENGTH
  private long length;

  StoredBytes(Arena arena) {
    this.arena = arena;
    arena.ledger().countLive(1);
  }

  @Override
  public boolean tryRetain() {
    int held = (int) LEASES.getOpaque(this);
    while ((held & LEASES_MASK) != 0 && (held & LEASES_MASK) != LEASES_MASK) {
      int witness = (int) LEASES.compareAndExchange(this, held, held + 1);
      if (witness == held) {
        return true;
      }
      held = witness;
    }
    return false;
  }

  @Override
  public void retain() {
    if (!tryRetain()) {
      throw ended();
    }
  }

  @Override
  public void release() {
    int held = (int) LEASES.getOpaque(this);
    while ((held & LEASES_MASK) != 0) {
      int witness = (int) LEASES.compareAndExchange(this, held, held - 1);
      if (witness == held) {
        if ((held & LEASES_MASK) == 1) {
          free((held & SENT) != 0);
        }
        return;
      }
      held = witness;
    }
    throw ended();
  }

  @Override
  public void countHit() {
    int counted = (int) HITS.getOpaque(this);
    if (counted != Integer.MAX_VALUE) {
      HITS.setOpaque(this, counted + 1);
    }
  }

  @Override
  public int hits() {
    return (int) HITS.getOpaque(this);
  }

  /** How many leases are held at this moment. */
  public int leases() {
    return (int) LEASES.getOpaque(this) & LEASES_MASK;
  }

  @Override
  public long length() {
    return (long) LENGTH.getAcquire(this);
  }

  @Override
  public long occupiedBytes() {
    return Block.granulesFor(length()) * Block.GRANULE_BYTES;
  }

  @Override
  public int blockCount() {
    int count = 0;
    while (block(count) != Block.NONE) {
      count++;
    }
    return count;
  }

  @Override
  public void forEachSlice(long offset, long length, Consumer<ByteBuf> consumer) {
    checkReadable(offset, length);
    long end = offset + length;
    long position = 0;
    for (int index = 0; position < end; index++) {
      long block = block(index);
      long next = position + Block.bytes(block);
      if (next > offset) {
        long from = Math.max(offset, position);
        consumer.accept(
            leasedSlice(Block.offset(block) + from - position, Math.min(end, next) - from));
      }
      position = next;
    }
  }

  @Override
  public boolean countSending() {
    if (!arena.isSendable()) {
      return false;
    }
    int word = (int) LEASES.getOpaque(this);
    while ((word & SENDINGS_MASK) != SENDINGS_MASK) {
      int witness = (int) LEASES.compareAndExchange(this, word, word + SENDING);
      if (witness == word) {
        return false;
      }
      word = witness;
    }
    return true;
  }

  @Override
  public void send(long offset, long length, Consumer<? super ReferenceCounted> sink) {
    long readable = checkReadable(offset, length);
    boolean isSendable = arena.isSendable();
    long end = offset + length;
    long position = 0;
    for (int index = 0; position < end; index++) {
      long block = block(index);
      long next = position + Block.bytes(block);
      if (next > offset) {
        long start = Block.offset(block);
        long from = start + Math.max(offset, position) - position;
        long to = start + Math.min(end, next) - position;
        if (isSendable) {
          send(start, start + Math.min(readable, next) - position, from, to, sink);
        } else {
          sink.accept(leasedSlice(from, to - from));
        }
      }
      position = next;
    }
  }

  /** Sends what lies from {@code from} to {@code to} in a block that is readable to {@code end}. */
  private void send(
      long start, long end, long from, long to, Consumer<? super ReferenceCounted> sink) {
    long regionFrom = Math.max(from, Slab.beginAtOrAfter(start));
    long regionTo = Math.min(to, Slab.endAtOrBefore(end));
    if (regionTo - regionFrom < Arena.REGION_MINIMUM_BYTES) {
      sink.accept(leasedSlice(from, to - from));
      return;
    }
    if (from < regionFrom) {
      sink.accept(leasedSlice(from, regionFrom - from));
    }
    retain();
    LEASES.getAndBitwiseOr(this, SENT);
    sink.accept(arena.region(this, regionFrom, regionTo - regionFrom));
    if (regionTo < to) {
      sink.accept(leasedSlice(regionTo, to - regionTo));
    }
  }

  @Override
  public ByteBuf slice(long offset, int length) {
    checkReadable(offset, length);
    if (length == 0) {
      return Unpooled.EMPTY_BUFFER;
    }
    long position = 0;
    int index = 0;
    while (offset - position >= Block.bytes(block(index))) {
      position += Block.bytes(block(index));
      index++;
    }
    if (offset + length - position <= Block.bytes(block(index))) {
      return leasedSlice(Block.offset(block(index)) + offset - position, length);
    }
    byte[] copy = new byte[length];
    copyTo(offset, copy, 0, length);
    return Unpooled.wrappedBuffer(copy);
  }

  @Override
  public void copyTo(long offset, byte[] target, int targetOffset, int length) {
    checkReadable(offset, length);
    Objects.checkFromIndexSize(targetOffset, length, target.length);
    MemorySegment memory = arena.readable();
    long end = offset + length;
    long position = 0;
    for (int index = 0; position < end; index++) {
      long block = block(index);
      long next = position + Block.bytes(block);
      if (next > offset) {
        long from = Math.max(offset, position);
        int count = (int) (Math.min(end, next) - from);
        long source = Block.offset(block) + from - position;
        int at = targetOffset + (int) (from - offset);
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, source, target, at, count);
      }
      position = next;
    }
  }

  @Override
  public String toString() {
    return "StoredBytes[length=" + length() + ", leases=" + leases() + "]";
  }

  Arena arena() {
    return arena;
  }

  /** Makes the octets below {@code length} readable to everybody who holds a lease. */
  void publish(long length) {
    LENGTH.setRelease(this, length);
  }

  private ByteBuf leasedSlice(long arenaOffset, long length) {
    retain();
    return new LeasedSlice(this, arena.address() + arenaOffset, (int) length);
  }

  /** How many octets are readable, those among them. */
  private long checkReadable(long offset, long length) {
    if (leases() == 0) {
      throw ended();
    }
    long readable = length();
    Objects.checkFromIndexSize(offset, length, readable);
    return readable;
  }

  private void free(boolean wasSent) {
    if (wasSent) {
      giveSent(arena);
    } else {
      trim(0, arena);
    }
    arena.ledger().countLive(-1);
  }

  private static IllegalStateException ended() {
    return new IllegalStateException("leases: 0 (expected: a lease held by the caller)");
  }
}
