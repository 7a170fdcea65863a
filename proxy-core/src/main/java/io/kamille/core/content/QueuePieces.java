package io.kamille.core.content;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Content that comes in pieces, from a source that may be faster than its taker: what the taker
 * does not take at once waits in memory and, if there is a {@link Spool}, in its file. Confined to
 * its loop.
 */
public class QueuePieces implements Pieces, ContentSink, ContentSource {

  /*
   * A queue of blocks. A full block goes to the file if there is no memory for it, and comes back
   * when it is the first one. While it moves, nobody else touches it. If it cannot be written, it
   * stays in memory, and the content is full.
   *
   * What is kept goes to its taker and stays here, too: in memory, or in its place in the file.
   *
   * A chunk that is taken at once passes as it is. One that waits is copied into blocks: a slice
   * would keep a buffer of many times its size. A block is as large as what is here already, so that
   * a source makes us hold little more than it has sent.
   */
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final long MANY_MOVING_BYTES = 64 * 1024;

  private static final Failure LOST =
      Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "content that waited in a file cannot be read");

  private enum Place {
    MEMORY,
    LEAVING,
    FILE,
    COMING
  }

  /** Consecutive octets: in memory, in the file, or on their way between them. */
  private static final class Block {
    private final int length;
    private @Nullable ByteBuf octets;
    private long at = Spool.NOWHERE;
    private Place place = Place.MEMORY;

    private Block(int length) {
      this.length = length;
    }

    private boolean isMoving() {
      return place == Place.LEAVING || place == Place.COMING;
    }

    private boolean hasRoom() {
      return place == Place.MEMORY && octets != null && octets.isWritable();
    }
  }

  private final ContentSource source;
  private final @Nullable Spool spool;
  private final @Nullable EventLoop loop;
  private final long memoryBytes;
  private final long mostBytes;
  private final ArrayDeque<Block> blocks = new ArrayDeque<>(1);

  /** Keeps this, and calls nothing of it before {@link #giveTo}. */
  @SuppressWarnings("this-escape")
  private final Pump pump = new Pump(this);

  private @Nullable ByteBuf passing;

  /** What has been given, while it is kept; else null. */
  private @Nullable ArrayDeque<Block> given;

  private @Nullable End end;
  private long bytes;
  private long inMemory;
  private long moving;
  private boolean isRefused;
  private boolean isSourcePaused;

  /** Content that waits in memory alone: a window bounds how much may come. */
  public QueuePieces() {
    this(ContentSource.NONE, null, null, Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * Content that may wait in a file, too.
   *
   * @param source is paused while there is no room, and cancelled when nobody wants the rest
   * @param memoryBytes how much of it may be in memory
   * @param mostBytes how much of it there may be before the source is paused
   */
  public QueuePieces(
      ContentSource source, EventLoop loop, long memoryBytes, long mostBytes, Spool spool) {
    this(source, loop, spool, memoryBytes, mostBytes);
  }

  private QueuePieces(
      ContentSource source,
      @Nullable EventLoop loop,
      @Nullable Spool spool,
      long memoryBytes,
      long mostBytes) {
    this.source = source;
    this.loop = loop;
    this.spool = spool;
    this.memoryBytes = memoryBytes;
    this.mostBytes = mostBytes;
  }

  // From the source

  @Override
  public void write(ByteBuf chunk) {
    write(chunk, Long.MAX_VALUE);
  }

  /** As {@link #write(ByteBuf)}, where at most so many octets follow. */
  protected final void write(ByteBuf chunk, long left) {
    if (isOver()) {
      chunk.release();
      return;
    }
    if (isEmpty()) {
      passing = chunk;
      pump.run();
      if (passing == null) {
        return;
      }
      passing = null;
    }
    keep(chunk, left);
    changed();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    end = end == null ? End.of(trailers) : end;
    pump.run();
  }

  @Override
  public void abort(Failure why) {
    end = End.broken(why);
    pump.run();
  }

  /** Whether nothing more is awaited from the source. */
  public final boolean isComplete() {
    return end != null;
  }

  /** Content has come, has gone or has been moved. */
  private void changed() {
    pump.run();
    settleSource();
  }

  /** Pauses the source, or lets it go on. */
  protected void settleSource() {
    if (isOver() || end != null) {
      return;
    }
    boolean mustPause = mustPause();
    if (mustPause != isSourcePaused) {
      isSourcePaused = mustPause;
      if (mustPause) {
        source.pause();
      } else {
        source.resume();
      }
    }
  }

  /** Whether no more should come for now. */
  protected boolean mustPause() {
    return isFull() || isLate() || (isSourcePaused && bytes > mostBytes / 2);
  }

  // What waits

  private void keep(ByteBuf chunk, long left) {
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
    long size = Math.clamp(Math.max(bytes, coming), LEAST_BLOCK_BYTES, Spool.BLOCK_BYTES);
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
    if (spool != null) {
      spool.take(block.length);
    }
    return octets;
  }

  private void fill(Block block, ByteBuf chunk) {
    ByteBuf octets = Objects.requireNonNull(block.octets);
    octets.writeBytes(chunk, Math.min(chunk.readableBytes(), octets.writableBytes()));
    if (spool != null && !octets.isWritable() && isBeyondMemory(spool)) {
      block.at = spool.place();
      isRefused = block.at == Spool.NOWHERE;
      if (!isRefused) {
        moving += block.length;
        move(spool, block, Place.LEAVING, octets.nioBuffer(), FileChannel::write);
      }
    }
  }

  private boolean isBeyondMemory(Spool room) {
    return inMemory - moving > memoryBytes || !room.hasMemory();
  }

  /** Whether nothing waits. */
  public final boolean isEmpty() {
    return passing == null && blocks.isEmpty();
  }

  /** Whether there is no room for more until some of it is taken. */
  protected final boolean isFull() {
    return !isEmpty()
        && (bytes >= mostBytes || (isRefused && spool != null && isBeyondMemory(spool)));
  }

  /** Whether so much waits to be written that no more should come for now. */
  protected final boolean isLate() {
    return moving >= MANY_MOVING_BYTES;
  }

  // To the pump

  @Override
  public final void next(Queue<ReferenceCounted> window) {
    if (passing != null) {
      window.add(passing);
      passing = null;
    } else if (end == null || end.why() == null) {
      ByteBuf octets = poll();
      if (octets != null) {
        window.add(octets);
      }
    }
  }

  private @Nullable ByteBuf poll() {
    Block first = blocks.peekFirst();
    if (first == null || first.isMoving()) {
      return null;
    }
    if (first.octets == null) {
      ByteBuffer room = allocate(first).nioBuffer(0, first.length);
      move(Objects.requireNonNull(spool), first, Place.COMING, room, FileChannel::read);
      return null;
    }
    blocks.removeFirst();
    bytes -= first.length;
    if (given == null) {
      leaveFile(first);
      return taken(first);
    }
    given.addLast(first);
    return first.at != Spool.NOWHERE ? taken(first) : first.octets.retainedDuplicate();
  }

  @Override
  public final @Nullable End ending() {
    return end == null || end.why() != null || isEmpty() ? end : null;
  }

  /** All news begins here, and the pump is this one's own. */
  @Override
  public final void whenMore(Runnable run) {}

  /** Frees room, unless what is here is kept; says to the source that nobody wants more. */
  @Override
  public final void close(@Nullable Failure why) {
    if (given == null) {
      free();
    }
    if (why != null && end == null) {
      source.cancel(why);
    }
  }

  // From the taker

  /** Gives the content to that sink. */
  public final void giveTo(ContentSink taker) {
    pump.start(taker);
    settleSource();
  }

  /** Whether the taker wants no more for now. */
  public final boolean isPaused() {
    return pump.isPaused();
  }

  /** Whether all has been given, or nobody wants more. */
  public final boolean isOver() {
    return pump.isOver();
  }

  @Override
  public final void pause() {
    pump.pause();
    settleSource();
  }

  @Override
  public final void resume() {
    pump.resume();
    settleSource();
  }

  @Override
  public final void cancel(Failure why) {
    pump.cancel(why);
  }

  // A second time

  /** From now on, what is given can be given again, until {@link #letGo}. All of it is here. */
  protected final void keep() {
    given = new ArrayDeque<>(blocks.size());
  }

  /** Begins anew without a sink, if all content was kept; whether it was. */
  protected final boolean rewind() {
    if (given == null) {
      return false;
    }
    while (!given.isEmpty()) {
      Block last = given.removeLast();
      bytes += last.length;
      blocks.addFirst(last);
    }
    pump.rewind();
    return true;
  }

  /** What was given is not needed a second time. */
  public final void letGo() {
    if (given != null) {
      given.forEach(this::drop);
      given = null;
    }
    if (isOver()) {
      free();
    }
  }

  private void free() {
    ReferenceCountUtil.release(passing);
    passing = null;
    for (Block block : blocks) {
      if (!block.isMoving()) {
        drop(block);
      }
    }
    blocks.clear();
  }

  private void drop(Block block) {
    leaveFile(block);
    ReferenceCountUtil.release(taken(block));
  }

  private @Nullable ByteBuf taken(Block block) {
    ByteBuf octets = block.octets;
    block.octets = null;
    if (octets != null) {
      inMemory -= block.length;
      if (spool != null) {
        spool.giveBack(block.length);
      }
    }
    return octets;
  }

  // The file

  /** Moves a block on a thread that may wait for the disk. */
  private void move(
      Spool room, Block block, Place way, ByteBuffer octets, Spool.Transfer transfer) {
    block.place = way;
    EventLoop home = Objects.requireNonNull(loop);
    room.onDisk(
        () -> {
          boolean isDone = room.move(octets, block.at, transfer);
          try {
            home.execute(() -> moved(block, isDone));
          } catch (RejectedExecutionException loopIsClosed) {
            // All that waits has gone with it.
          }
        },
        () -> home.execute(() -> moved(block, false)));
  }

  private void moved(Block block, boolean isDone) {
    if (block.place == Place.COMING) {
      wasRead(block, isDone);
    } else {
      wasWritten(block, isDone);
    }
    if (isOver() && given == null) {
      drop(block);
    } else {
      changed();
    }
  }

  private void wasWritten(Block block, boolean isDone) {
    moving -= block.length;
    if (isDone) {
      block.place = Place.FILE;
      ReferenceCountUtil.release(taken(block));
    } else {
      block.place = Place.MEMORY;
      isRefused = true;
      leaveFile(block);
    }
  }

  private void wasRead(Block block, boolean isDone) {
    block.place = Place.MEMORY;
    if (block.octets != null) {
      block.octets.writerIndex(block.length);
    }
    if (!isDone) {
      boolean isSourceWanted = end == null && !isOver();
      end = End.broken(LOST);
      if (isSourceWanted) {
        stopSource(LOST);
      }
    }
  }

  /** What is here is lost: no more of it should come. */
  protected void stopSource(Failure why) {
    source.cancel(why);
  }

  private void leaveFile(Block block) {
    if (spool != null && block.at != Spool.NOWHERE) {
      spool.leave(block.at);
      block.at = Spool.NOWHERE;
    }
  }
}
