package io.kamille.cache.memory;

import io.kamille.cache.store.SliceConsumer;
import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

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
   */

  private static final VarHandle LEASES;
  private static final VarHandle LENGTH;

  static {
    try {
      var lookup = MethodHandles.lookup();
      LEASES = lookup.findVarHandle(StoredBytes.class, "leases", int.class);
      LENGTH = lookup.findVarHandle(StoredBytes.class, "length", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Arena arena;

  @SuppressWarnings("UnusedVariable") // used through LEASES
  private int leases = 1;

  private long length;

  StoredBytes(Arena arena) {
    this.arena = arena;
    arena.countLive(1);
  }

  @Override
  public boolean tryRetain() {
    int held = (int) LEASES.getOpaque(this);
    while (held > 0 && held < Integer.MAX_VALUE) {
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
    while (held > 0) {
      int witness = (int) LEASES.compareAndExchange(this, held, held - 1);
      if (witness == held) {
        if (held == 1) {
          free();
        }
        return;
      }
      held = witness;
    }
    throw ended();
  }

  /** How many leases are held at this moment. */
  public int leases() {
    return (int) LEASES.getOpaque(this);
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
  public void forEachSlice(long offset, long length, SliceConsumer consumer) {
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
  public ByteBuf slice(long offset, int length) {
    checkReadable(offset, length);
    long position = 0;
    int index = 0;
    while (offset - position > Block.bytes(block(index))) {
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

  private void checkReadable(long offset, long length) {
    if (leases() == 0) {
      throw ended();
    }
    Objects.checkFromIndexSize(offset, length, length());
  }

  private void free() {
    arena.countRequested(-length);
    trim(0, arena);
    arena.countLive(-1);
  }

  private static IllegalStateException ended() {
    return new IllegalStateException("leases: 0 (expected: a lease held by the caller)");
  }
}
