package io.kamille.core.answer;

import io.kamille.core.content.Pieces;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.ByteRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A part of a file: one region where the connection takes them, else slice by slice, each read by a
 * thread of files when the one before was taken. Confined to a loop.
 */
final class FilePieces implements Pieces {

  private static final int SLICE_BYTES = 128 * 1024;

  private final EventLoop loop;
  private final Executor threads;
  private Runnable more = () -> {};
  private @Nullable FileChannel file;
  private long position;
  private long left;
  private boolean byRegion;
  private @Nullable ByteBuf slice;
  private @Nullable End broken;
  private boolean isReading;

  /** No file yet. */
  FilePieces(EventLoop loop, Executor threads) {
    this.loop = loop;
    this.threads = threads;
  }

  /** Takes ownership of a file, of which a part is wanted. */
  void open(FileChannel channel, ByteRange range, boolean inOneRegion) {
    file = channel;
    position = range.offset();
    left = range.length();
    byRegion = inOneRegion;
  }

  @Override
  public void next(Queue<ReferenceCounted> window) {
    if (slice != null) {
      window.add(slice);
      slice = null;
    } else if (file != null && left > 0 && byRegion) {
      // It closes the file in the end.
      window.add(new DefaultFileRegion(file, position, left));
      left = 0;
      file = null;
    } else if (file != null && left > 0 && !isReading && broken == null) {
      readOn(file);
    }
  }

  private void readOn(FileChannel channel) {
    int length = (int) Math.min(left, SLICE_BYTES);
    long from = position;
    position += length;
    left -= length;
    isReading = true;
    try {
      threads.execute(() -> read(channel, from, length));
    } catch (RejectedExecutionException closed) {
      loop.execute(() -> came(channel, null, "Kamille is shutting down"));
    }
  }

  /** On a thread of files. */
  private void read(FileChannel channel, long from, int length) {
    ByteBuf content = null;
    String trouble = "";
    try {
      content = ByteBufAllocator.DEFAULT.directBuffer(length);
      while (content.readableBytes() < length) {
        int done = content.readableBytes();
        if (content.writeBytes(channel, from + done, length - done) < 0) {
          throw new EOFException("the file became shorter");
        }
      }
    } catch (IOException | RuntimeException | Error failed) {
      ReferenceCountUtil.release(content);
      content = null;
      trouble = failed.toString();
    }
    give(channel, content, trouble);
  }

  private void give(FileChannel channel, @Nullable ByteBuf content, String trouble) {
    try {
      loop.execute(() -> came(channel, content, trouble));
    } catch (RejectedExecutionException loopIsClosed) {
      ReferenceCountUtil.release(content);
    }
  }

  private void came(FileChannel channel, @Nullable ByteBuf content, String trouble) {
    isReading = false;
    if (file == null) {
      ReferenceCountUtil.release(content);
      closeFile(channel);
      return;
    }
    slice = content;
    if (content == null) {
      broken = End.broken(Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "cannot read on: " + trouble));
    }
    more.run();
  }

  @Override
  public @Nullable End ending() {
    boolean isAllGiven = left == 0 && slice == null && !isReading;
    return broken == null && isAllGiven ? End.COMPLETE : broken;
  }

  @Override
  public void whenMore(Runnable run) {
    more = run;
  }

  @Override
  public void close(@Nullable Failure why) {
    ReferenceCountUtil.release(slice);
    slice = null;
    if (file != null && !isReading) {
      closeFile(file);
    }
    file = null;
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
