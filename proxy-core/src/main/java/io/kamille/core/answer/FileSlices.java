package io.kamille.core.answer;

import io.kamille.core.http.ByteRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a file, slice by slice. Confined to a loop; reading happens on the threads of files,
 * one slice at a time.
 */
final class FileSlices {

  private static final int SLICE_BYTES = 128 * 1024;

  /**
   * What reading a slice came to.
   *
   * @param content the taker's to release; null if it failed
   * @param trouble why it did
   */
  record Slice(@Nullable ByteBuf content, String trouble) {

    void release() {
      if (content != null) {
        content.release();
      }
    }
  }

  private final FileChannel channel;
  private final EventLoop loop;
  private final Executor threads;
  private final Consumer<Slice> taker;
  private long position;
  private long left;
  private boolean isReading;
  private boolean isClosed;

  /** Takes ownership of {@code channel}. */
  FileSlices(
      FileChannel channel,
      ByteRange range,
      EventLoop loop,
      Executor threads,
      Consumer<Slice> taker) {
    this.channel = channel;
    this.position = range.offset();
    this.left = range.length();
    this.loop = loop;
    this.threads = threads;
    this.taker = taker;
  }

  boolean isReading() {
    return isReading;
  }

  /** Whether another slice can be asked for now. */
  boolean hasNext() {
    return left > 0 && !isReading;
  }

  /** Has the next slice read, and given to the taker on the loop. */
  void next() {
    int length = (int) Math.min(left, SLICE_BYTES);
    long from = position;
    position += length;
    left -= length;
    isReading = true;
    try {
      threads.execute(() -> read(from, length));
    } catch (RejectedExecutionException closed) {
      loop.execute(() -> give(new Slice(null, "Kamille is shutting down")));
    }
  }

  private void read(long from, int length) {
    Slice slice = slice(from, length);
    try {
      loop.execute(() -> give(slice));
    } catch (RejectedExecutionException loopIsClosed) {
      slice.release();
    }
  }

  private Slice slice(long from, int length) {
    ByteBuf content = null;
    try {
      content = ByteBufAllocator.DEFAULT.directBuffer(length);
      while (content.readableBytes() < length) {
        int done = content.readableBytes();
        if (content.writeBytes(channel, from + done, length - done) < 0) {
          throw new EOFException("the file became shorter");
        }
      }
      return new Slice(content, "");
    } catch (IOException | RuntimeException | Error failed) {
      if (content != null) {
        content.release();
      }
      return new Slice(null, failed.toString());
    }
  }

  private void give(Slice slice) {
    isReading = false;
    if (isClosed) {
      closeFile(channel);
    }
    taker.accept(slice);
  }

  /** Reads no more. */
  void close() {
    isClosed = true;
    if (!isReading) {
      closeFile(channel);
    }
  }

  /** Closes a file that was only read: nothing can go wrong that matters. */
  static void closeFile(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException nothingWasWritten) {
      // The file was read only.
    }
  }
}
