package io.kamille.cache.memory;

import io.netty.buffer.AbstractByteBuf;
import io.netty.buffer.ByteBuf;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.charset.Charset;

/** A ByteBuf that refuses every method which would change its octets; its indices still move. */
abstract class UnwritableByteBuf extends AbstractByteBuf {

  /*
   * AbstractByteBuf leads all its set and write methods to those that are refused here, but for
   * text, which it writes to the memory's address. Its write methods may find before that a full
   * buffer has no room, and complain of an index.
   */

  UnwritableByteBuf(int capacity) {
    super(capacity);
  }

  @Override
  public final boolean isReadOnly() {
    return true;
  }

  @Override
  public final boolean isWritable() {
    return false;
  }

  @Override
  public final boolean isWritable(int size) {
    return false;
  }

  @Override
  public final int capacity() {
    return maxCapacity();
  }

  @Override
  public final ByteBuf capacity(int newCapacity) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf ensureWritable(int minWritableBytes) {
    throw new ReadOnlyBufferException();
  }

  /** Says "not enough room, and capacity unchanged". */
  @Override
  public final int ensureWritable(int minWritableBytes, boolean force) {
    return 1;
  }

  @Override
  public final ByteBuf discardReadBytes() {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf discardSomeReadBytes() {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setByte(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setShort(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setShortLE(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setMedium(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setMediumLE(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setInt(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setIntLE(int index, int value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setLong(int index, long value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  protected final void _setLongLE(int index, long value) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf setBytes(int index, byte[] source, int sourceIndex, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf setBytes(int index, ByteBuffer source) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final int setBytes(int index, InputStream source, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final int setBytes(int index, ScatteringByteChannel source, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final int setBytes(int index, FileChannel source, long position, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf setBytes(int index, ByteBuf source, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final ByteBuf setZero(int index, int length) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final int setCharSequence(int index, CharSequence sequence, Charset charset) {
    throw new ReadOnlyBufferException();
  }

  @Override
  public final int writeCharSequence(CharSequence sequence, Charset charset) {
    throw new ReadOnlyBufferException();
  }
}
