package io.kamille.core.origin.send;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Content that waits for its taker, in memory and in the file. Confined to its loop. */
final class SpooledContent {

  /*
   * A queue of blocks. A full block goes to the file if there is no memory for it, and comes back
   * when it is the first one. While it moves, nobody else touches it. If it cannot be written, it
   * stays in memory, and the content is full.
   *
   * What is kept goes to its taker and stays here, too: in memory, or in its place in the file.
   *
   * All content is copied into blocks: a slice would keep a buffer of many times its size. A block
   * is as large as what is here already, so that a client makes us hold little more than it has
   * sent.
   */
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final long MANY_MOVING_BYTES = 64 * 1024;

  /** Consecutive octets: in memory, in the file, or on their way between them. */
  private static final class Block {
    private final int length;
    private @Nullable ByteBuf octets;
    private long at = Spool.NOWHERE;
    private boolean isMoving;
    private boolean isInFile;

    private Block(int length) {
      this.length = length;
    }

    /** Never while it comes back from the file. */
    private boolean hasRoom() {
      return octets != null && !isMoving && octets.isWritable();
    }
  }

  private final Spool spool;
  private final EventLoop loop;
  private final long memoryBytes;
  private final long mostBytes;
  private final Runnable owner;
  private final ArrayDeque<Block> blocks = new ArrayDeque<>(4);
  private final ArrayDeque<Block> given = new ArrayDeque<>(0);
  private long bytes;
  private long inMemory;
  private long moving;
  private boolean isKept;
  private boolean isRefused;
  private boolean isLost;
  private boolean isReleased;

  /**
   * Nothing yet.
   *
   * @param memoryBytes how much of it may be in memory
   * @param mostBytes how much of it there may be; what comes beyond that is kept, too
   * @param owner is to look again whenever something was written or read
   */
  SpooledContent(Spool spool, EventLoop loop, long memoryBytes, long mostBytes, Runnable owner) {
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
    try {
      while (chunk.isReadable()) {
        Block last = blocks.peekLast();
        if (last == null || !last.hasRoom()) {
          last = begin(chunk.readableBytes(), left);
        }
        fill(last, chunk);
      }
    } finally {
      chunk.release();
    }
  }

  private Block begin(int coming, long left) {
    long size = Math.clamp(bytes, LEAST_BLOCK_BYTES, Spool.BLOCK_BYTES);
    var block = new Block((int) Math.min(size, coming + Math.min(left, size)));
    bytes += block.length;
    allocate(block);
    blocks.addLast(block);
    return block;
  }

  private ByteBuf allocate(Block block) {
    ByteBuf octets = ByteBufAllocator.DEFAULT.directBuffer(block.length, block.length);
    block.octets = octets;
    inMemory += block.length;
    spool.take(block.length);
    return octets;
  }

  private void fill(Block block, ByteBuf chunk) {
    ByteBuf octets = Objects.requireNonNull(block.octets);
    octets.writeBytes(chunk, Math.min(chunk.readableBytes(), octets.writableBytes()));
    if (!octets.isWritable() && isBeyondMemory()) {
      block.at = spool.place();
      isRefused = block.at == Spool.NOWHERE;
      if (!isRefused) {
        moving += block.length;
        move(block, octets.nioBuffer(), FileChannel::write);
      }
    }
  }

  private boolean isBeyondMemory() {
    return inMemory - moving > memoryBytes || !spool.hasMemory();
  }

  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /** Whether there is no room for more until some of it is taken. */
  boolean isFull() {
    return !isEmpty() && (bytes >= mostBytes || (isRefused && isBeyondMemory()));
  }

  /** Whether a source that was paused should stay so: else it would go on for each block. */
  boolean isHalfFull() {
    return bytes > mostBytes / 2;
  }

  /** Whether so much waits to be written that no more should come for now. */
  boolean isLate() {
    return moving >= MANY_MOVING_BYTES;
  }

  /** Whether the next chunk cannot be read any more. */
  boolean isLost() {
    return isLost;
  }

  /**
   * The next chunk, the caller's to release; null if none is at hand, and the owner hears of it.
   */
  @Nullable ByteBuf poll() {
    Block first = blocks.peekFirst();
    if (first == null || first.isMoving || isLost) {
      return null;
    }
    if (first.octets == null) {
      move(first, allocate(first).nioBuffer(0, first.length), FileChannel::read);
      return null;
    }
    blocks.removeFirst();
    bytes -= first.length;
    if (!isKept) {
      leaveFile(first);
      return taken(first);
    }
    given.addLast(first);
    return first.isInFile ? taken(first) : first.octets.retainedDuplicate();
  }

  /** From now on, what is given can be given again, until {@link #letGo}. All of it is here. */
  void keep() {
    isKept = true;
  }

  boolean isKept() {
    return isKept;
  }

  /** The next chunk is the first one again. */
  void rewind() {
    while (!given.isEmpty()) {
      Block last = given.removeLast();
      bytes += last.length;
      blocks.addFirst(last);
    }
  }

  /** What was given is not needed any more. */
  void letGo() {
    isKept = false;
    given.forEach(this::drop);
    given.clear();
  }

  private @Nullable ByteBuf taken(Block block) {
    ByteBuf octets = block.octets;
    block.octets = null;
    if (octets != null) {
      inMemory -= block.length;
      spool.giveBack(block.length);
    }
    return octets;
  }

  // The file

  /** Moves a block on a thread that may wait for the disk. */
  private void move(Block block, ByteBuffer octets, Spool.Transfer transfer) {
    block.isMoving = true;
    spool.onDisk(
        () -> {
          boolean isDone = spool.move(octets, block.at, transfer);
          try {
            loop.execute(() -> moved(block, isDone));
          } catch (RejectedExecutionException loopIsClosed) {
            // All that waits has gone with it.
          }
        },
        () -> loop.execute(() -> moved(block, false)));
  }

  private void moved(Block block, boolean isDone) {
    block.isMoving = false;
    if (block.isInFile) {
      wasRead(block, isDone);
    } else {
      moving -= block.length;
      block.isInFile = isDone;
      isRefused |= !isDone;
      if (isDone) {
        ReferenceCountUtil.release(taken(block));
      } else {
        leaveFile(block);
      }
    }
    if (isReleased) {
      drop(block);
    } else {
      owner.run();
    }
  }

  private void wasRead(Block block, boolean isDone) {
    isLost |= !isDone;
    if (block.octets != null) {
      block.octets.writerIndex(block.length);
    }
  }

  private void leaveFile(Block block) {
    if (block.at != Spool.NOWHERE) {
      spool.leave(block.at);
      block.at = Spool.NOWHERE;
      block.isInFile = false;
    }
  }

  /** Frees all memory and all places. Idempotent. */
  void release() {
    isReleased = true;
    for (Block block : blocks) {
      if (!block.isMoving) {
        drop(block);
      }
    }
    blocks.clear();
    letGo();
  }

  private void drop(Block block) {
    leaveFile(block);
    ReferenceCountUtil.release(taken(block));
  }
}
