package io.kamille.cache.memory;

import io.kamille.core.socket.Leased;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * A read-only view on octets of one block, which holds a lease on them until it is released.
 *
 * <p>Reference counts may change on any thread; the indices belong to one holder at a time, as with
 * every {@link ByteBuf}.
 */
final class LeasedSlice extends UnwritableByteBuf implements Leased {

  /*
   * This is what a socket writes, so it is one object and nothing else: it has its own count, where
   * AbstractReferenceCountedByteBuf would allocate a second object for it, and it knows its
   * address, which is all that epoll needs. Everybody else reads through the arena's segment, whose
   * bounds and life are checked.
   */

  private static final VarHandle REFERENCES;

  static {
    try {
      REFERENCES = MethodHandles.lookup().findVarHandle(LeasedSlice.class, "references", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final StoredBytes bytes;
  private final long address;

  @SuppressWarnings("UnusedVariable") // used through REFERENCES
  private int references = 1;

  /** Takes over one lease on {@code bytes}; all of the slice is readable. */
  LeasedSlice(StoredBytes bytes, long address, int length) {
    super(length);
    this.bytes = bytes;
    this.address = address;
    setIndex(0, length);
  }

  // Life

  @Override
  public int waitingBytes() {
    return readableBytes();
  }

  @Override
  public int refCnt() {
    return (int) REFERENCES.getOpaque(this);
  }

  @Override
  public ByteBuf retain() {
    return retain(1);
  }

  @Override
  public ByteBuf retain(int increment) {
    if (increment <= 0) {
      throw new IllegalArgumentException("increment: " + increment + " (expected: more than 0)");
    }
    int held = refCnt();
    while (held > 0 && held <= Integer.MAX_VALUE - increment) {
      int witness = (int) REFERENCES.compareAndExchange(this, held, held + increment);
      if (witness == held) {
        return this;
      }
      held = witness;
    }
    throw new IllegalReferenceCountException(held, increment);
  }

  @Override
  public boolean release() {
    return release(1);
  }

  @Override
  public boolean release(int decrement) {
    if (decrement <= 0) {
      throw new IllegalArgumentException("decrement: " + decrement + " (expected: more than 0)");
    }
    int held = refCnt();
    while (held >= decrement) {
      int witness = (int) REFERENCES.compareAndExchange(this, held, held - decrement);
      if (witness == held) {
        if (held == decrement) {
          bytes.release();
        }
        return held == decrement;
      }
      held = witness;
    }
    throw new IllegalReferenceCountException(held, -decrement);
  }

  @Override
  public ByteBuf touch() {
    return this;
  }

  @Override
  public ByteBuf touch(Object hint) {
    return this;
  }

  // Shape

  @Override
  public boolean hasMemoryAddress() {
    return true;
  }

  @Override
  public long memoryAddress() {
    ensureAccessible();
    return address;
  }

  @Override
  public boolean isDirect() {
    return true;
  }

  @Override
  public boolean isContiguous() {
    return true;
  }

  @Override
  public boolean hasArray() {
    return false;
  }

  @Override
  public byte[] array() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  public int arrayOffset() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  @SuppressWarnings("deprecation")
  public ByteOrder order() {
    return ByteOrder.BIG_ENDIAN;
  }

  @Override
  public @Nullable ByteBuf unwrap() {
    return null;
  }

  @Override
  public ByteBufAllocator alloc() {
    return ByteBufAllocator.DEFAULT;
  }

  // NIO views

  @Override
  public int nioBufferCount() {
    return 1;
  }

  @Override
  public ByteBuffer nioBuffer(int index, int length) {
    checkIndex(index, length);
    return memory().asSlice(offset(index), length).asByteBuffer();
  }

  @Override
  public ByteBuffer internalNioBuffer(int index, int length) {
    return nioBuffer(index, length);
  }

  @Override
  public ByteBuffer[] nioBuffers(int index, int length) {
    return new ByteBuffer[] {nioBuffer(index, length)};
  }

  // Reading

  @Override
  protected byte _getByte(int index) {
    return memory().get(ValueLayout.JAVA_BYTE, offset(index));
  }

  @Override
  protected short _getShort(int index) {
    return memory().get(SHORT, offset(index));
  }

  @Override
  protected short _getShortLE(int index) {
    return Short.reverseBytes(_getShort(index));
  }

  @Override
  protected int _getUnsignedMedium(int index) {
    return ((_getByte(index) & 0xff) << 16) | (_getShort(index + 1) & 0xffff);
  }

  @Override
  protected int _getUnsignedMediumLE(int index) {
    return (_getShortLE(index) & 0xffff) | ((_getByte(index + 2) & 0xff) << 16);
  }

  @Override
  protected int _getInt(int index) {
    return memory().get(INT, offset(index));
  }

  @Override
  protected int _getIntLE(int index) {
    return Integer.reverseBytes(_getInt(index));
  }

  @Override
  protected long _getLong(int index) {
    return memory().get(LONG, offset(index));
  }

  @Override
  protected long _getLongLE(int index) {
    return Long.reverseBytes(_getLong(index));
  }

  @Override
  public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
    checkDstIndex(index, length, targetIndex, target.length);
    MemorySegment.copy(memory(), ValueLayout.JAVA_BYTE, offset(index), target, targetIndex, length);
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuffer target) {
    target.put(nioBuffer(index, target.remaining()));
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
    checkDstIndex(index, length, targetIndex, target.capacity());
    if (target.hasArray()) {
      return getBytes(index, target.array(), target.arrayOffset() + targetIndex, length);
    }
    target.setBytes(targetIndex, nioBuffer(index, length));
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, OutputStream target, int length) throws IOException {
    Channels.newChannel(target).write(nioBuffer(index, length));
    return this;
  }

  @Override
  public int getBytes(int index, GatheringByteChannel target, int length) throws IOException {
    return target.write(nioBuffer(index, length));
  }

  @Override
  public int getBytes(int index, FileChannel target, long position, int length) throws IOException {
    return target.write(nioBuffer(index, length), position);
  }

  @Override
  public ByteBuf copy(int index, int length) {
    checkIndex(index, length);
    return alloc().directBuffer(length).writeBytes(this, index, length);
  }

  private MemorySegment memory() {
    return bytes.arena().readable();
  }

  private long offset(int index) {
    return address - bytes.arena().address() + index;
  }
}
