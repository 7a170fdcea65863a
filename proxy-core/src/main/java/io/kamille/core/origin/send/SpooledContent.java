package io.kamille.core.origin.send;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Content that came and waits for its taker, first in memory, then in a file. Confined to its loop;
 * the file is read and written on the threads of the {@link Spool}.
 */
final class SpooledContent {

  /*
   *   poll ◄── head ◄── slice ◄── file ◄── tail ◄── add        (in this order)
   *
   * What there is memory for goes to the head, as long as the rest is empty. All else goes to the
   * tail, and from there to the file, or straight to the taker if that has caught up. A file has
   * one operation at a time. Blocks stay in the tail until they are written: if that fails, nothing
   * is lost, and the content is full.
   *
   * A chunk is a slice of what one read brought. A small one that is not the last is copied into a
   * block: otherwise it would keep a buffer of many times its size. Blocks are as large as what is
   * here already, so that a client makes us hold little more than it has sent. What goes to a file
   * is copied always: other threads must not share a buffer with the loop.
   */
  private static final int KEPT_BYTES = 32 * 1024;
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final int GREATEST_BLOCK_BYTES = 16 * 1024;
  private static final int SLICE_BYTES = 128 * 1024;
  private static final int LONG_TAIL_BYTES = 256 * 1024;

  /** Whose content it is. */
  interface Owner {

    /** Something was written or read: look again. */
    void spoolMoved();
  }

  private final Spool spool;
  private final EventLoop loop;
  private final Owner owner;
  private final long memoryBytes;
  private final long mostBytes;
  private final ArrayDeque<ByteBuf> head = new ArrayDeque<>(4);
  private final ArrayDeque<ByteBuf> tail = new ArrayDeque<>(0);
  private @Nullable ByteBuf block;
  private @Nullable ByteBuf slice;
  private long headBytes;
  private long tailBytes;
  // Opened by an operation, which the loop hears the end of.
  private @Nullable FileChannel channel;
  private long readAt;
  private long writtenAt;
  private long fileRoom;
  private boolean isBusy;
  private boolean isRefused;
  private boolean isReleased;
  private @Nullable Failure broken;

  /**
   * Nothing yet.
   *
   * @param memoryBytes how much of it may be in memory
   * @param mostBytes how much of it there may be; what comes beyond that is kept, too
   */
  SpooledContent(Spool spool, EventLoop loop, long memoryBytes, long mostBytes, Owner owner) {
    this.spool = spool;
    this.loop = loop;
    this.memoryBytes = memoryBytes;
    this.mostBytes = mostBytes;
    this.owner = owner;
  }

  /**
   * Takes content in. Takes ownership.
   *
   * @param left octets that will follow, or more than that
   */
  void add(ByteBuf chunk, long left) {
    boolean isHead = tail.isEmpty() && !hasFile() && slice == null && !isBusy;
    long open = block == null ? 0 : block.writableBytes();
    if (isHead && headBytes - open + chunk.readableBytes() <= memoryBytes && spool.hasMemory()) {
      if (chunk.readableBytes() < KEPT_BYTES && left > 0) {
        copy(chunk, left, true);
      } else {
        block = null;
        keep(chunk, true);
      }
    } else {
      if (isHead) {
        block = null;
      }
      copy(chunk, left, false);
      work();
    }
  }

  private void copy(ByteBuf chunk, long left, boolean isHead) {
    try {
      while (chunk.isReadable()) {
        ByteBuf open = block;
        if (open == null || !open.isWritable()) {
          long size = Math.clamp(bytes(), LEAST_BLOCK_BYTES, GREATEST_BLOCK_BYTES);
          size = Math.min(size, chunk.readableBytes() + Math.min(left, size));
          open = chunk.alloc().directBuffer((int) size, (int) size);
          block = open;
          keep(open, isHead);
        }
        open.writeBytes(chunk, Math.min(chunk.readableBytes(), open.writableBytes()));
      }
    } finally {
      chunk.release();
    }
  }

  private void keep(ByteBuf buffer, boolean isHead) {
    spool.take(buffer.capacity());
    if (isHead) {
      head.addLast(buffer);
      headBytes += buffer.capacity();
    } else {
      tail.addLast(buffer);
      tailBytes += buffer.capacity();
    }
  }

  /** Octets held, or a little more than that. */
  private long bytes() {
    return headBytes + tailBytes + writtenAt - readAt;
  }

  private boolean hasFile() {
    return writtenAt > readAt;
  }

  boolean isEmpty() {
    return head.isEmpty() && tail.isEmpty() && slice == null && !hasFile();
  }

  /** Whether there is no room for more until some of it is taken. */
  boolean isFull() {
    return !isEmpty() && (isRefused || bytes() >= mostBytes);
  }

  boolean isMoreThan(long least) {
    return bytes() > least;
  }

  /** Whether so much waits to be written that no more should come for now. */
  boolean isLate() {
    return tailBytes >= LONG_TAIL_BYTES;
  }

  /** Why it cannot be given on; null as long as it can. */
  @Nullable Failure broken() {
    return broken;
  }

  /**
   * The next chunk, the caller's to release; null if none is at hand, and the owner hears of it.
   */
  @Nullable ByteBuf poll() {
    if (!head.isEmpty()) {
      return given(removeFromHead());
    }
    ByteBuf read = slice;
    if (read != null) {
      slice = null;
      if (hasFile()) {
        read();
      } else if (!isBusy) {
        letGo();
      }
      return given(read);
    }
    if (hasFile() || isBusy) {
      read();
      return null;
    }
    return tail.isEmpty() ? null : given(removeFromTail());
  }

  private ByteBuf given(ByteBuf buffer) {
    spool.giveBack(buffer.capacity());
    return buffer;
  }

  /** The block that is written to is the last one. */
  private ByteBuf removeFrom(ArrayDeque<ByteBuf> queue) {
    ByteBuf first = queue.removeFirst();
    if (queue.isEmpty()) {
      block = null;
    }
    return first;
  }

  private ByteBuf removeFromHead() {
    ByteBuf first = removeFrom(head);
    headBytes -= first.capacity();
    return first;
  }

  private ByteBuf removeFromTail() {
    ByteBuf first = removeFrom(tail);
    tailBytes -= first.capacity();
    isRefused &= !tail.isEmpty() || fileRoom > 0;
    return first;
  }

  // The file

  /** Writes the tail if nothing else is done and there is room. */
  private void work() {
    if (isBusy || isReleased || isRefused || tail.isEmpty() || !takeRoom()) {
      return;
    }
    block = null;
    List<ByteBuffer> blocks = new ArrayList<>(tail.size());
    for (ByteBuf buffer : tail) {
      blocks.add(buffer.nioBuffer());
    }
    long at = writtenAt;
    run(() -> write(blocks, at));
  }

  /** Room in the file for the tail. */
  private boolean takeRoom() {
    long needed = writtenAt + tailBytes - fileRoom;
    if (needed > 0) {
      long steps = (needed + Spool.STEP_BYTES - 1) / Spool.STEP_BYTES * Spool.STEP_BYTES;
      isRefused = writtenAt + tailBytes > mostBytes || !spool.takeFile(steps);
      fileRoom += isRefused ? 0 : steps;
    }
    return !isRefused;
  }

  private void read() {
    if (isBusy || isReleased || !hasFile() || slice != null) {
      return;
    }
    int length = (int) Math.min(SLICE_BYTES, writtenAt - readAt);
    long at = readAt;
    run(() -> read(at, length));
  }

  /** One operation, off the loop; what it returns is done on the loop then. */
  private interface Operation {
    Runnable run();
  }

  private void run(Operation operation) {
    isBusy = true;
    try {
      spool.onDisk(
          () -> {
            Runnable outcome = operation.run();
            try {
              loop.execute(() -> done(outcome));
            } catch (RejectedExecutionException loopIsClosed) {
              closeFile();
            }
          });
    } catch (RejectedExecutionException closed) {
      loop.execute(() -> done(() -> fail(closed)));
    }
  }

  private void done(Runnable outcome) {
    isBusy = false;
    outcome.run();
    if (isReleased) {
      release();
      return;
    }
    if (!hasFile() && slice == null && fileRoom > 0) {
      letGo();
    }
    // The owner first: what is to be read goes before what is to be written.
    owner.spoolMoved();
    boolean wasRefused = isRefused;
    work();
    if (isRefused != wasRefused) {
      owner.spoolMoved();
    }
  }

  private Runnable write(List<ByteBuffer> blocks, long at) {
    try {
      FileChannel file = channel;
      if (file == null) {
        file = spool.open();
        channel = file;
      }
      long position = at;
      for (ByteBuffer buffer : blocks) {
        while (buffer.hasRemaining()) {
          position += file.write(buffer, position);
        }
      }
      long end = position;
      return () -> written(blocks.size(), end);
    } catch (IOException | RuntimeException failed) {
      spool.failed(failed);
      return () -> isRefused = true;
    }
  }

  private void written(int count, long end) {
    for (int i = 0; i < count && !tail.isEmpty(); i++) {
      given(removeFromTail()).release();
    }
    writtenAt = end;
  }

  private Runnable read(long at, int length) {
    ByteBuf content = null;
    try {
      FileChannel file = channel;
      content = ByteBufAllocator.DEFAULT.directBuffer(length, length);
      while (content.isWritable()) {
        long from = at + content.readableBytes();
        if (file == null || content.writeBytes(file, from, content.writableBytes()) < 0) {
          throw new EOFException("the file is shorter than what was written");
        }
      }
      ByteBuf whole = content;
      return () -> {
        readAt += length;
        slice = whole;
        spool.take(whole.capacity());
      };
    } catch (IOException | RuntimeException failed) {
      if (content != null) {
        content.release();
      }
      spool.failed(failed);
      return () -> fail(failed);
    }
  }

  private void fail(Exception why) {
    isRefused = true;
    broken = Failure.of(Kind.PROXY_INTERNAL_ERROR, "content that waited in a file is lost: " + why);
  }

  /** All that was in the file has been read: the next content may begin another one. */
  private void letGo() {
    spool.giveBackFile(fileRoom);
    fileRoom = 0;
    readAt = 0;
    writtenAt = 0;
    isRefused = false;
    if (channel != null) {
      FileChannel file = channel;
      channel = null;
      try {
        spool.onDisk(() -> close(file));
      } catch (RejectedExecutionException closed) {
        close(file);
      }
    }
  }

  private void closeFile() {
    if (channel != null) {
      close(channel);
    }
  }

  private static void close(FileChannel file) {
    try {
      file.close();
    } catch (IOException nothingIsLost) {
      // Nobody needs the file any more.
    }
  }

  /** Frees all memory and the file. Idempotent. */
  void release() {
    isReleased = true;
    if (isBusy) {
      return;
    }
    block = null;
    while (!head.isEmpty()) {
      given(removeFromHead()).release();
    }
    while (!tail.isEmpty()) {
      given(removeFromTail()).release();
    }
    if (slice != null) {
      given(slice).release();
      slice = null;
    }
    letGo();
  }
}
