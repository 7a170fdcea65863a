package io.kamille.core.origin.send;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Content that waits for its taker, in memory and in a file. Confined to its loop. */
final class SpooledContent {

  /*
   * A queue of pieces. A piece that is complete goes to the file if there is no memory for it, and
   * comes back when it is the first one. While it moves, nobody else touches it. If it cannot be
   * written, it stays in memory, and the content is full.
   *
   * A chunk is a slice of what one read brought. A small one that is not the last is copied into a
   * block: otherwise it would keep a buffer of many times its size. Blocks are as large as what is
   * here already, so that a client makes us hold little more than it has sent.
   */
  private static final int KEPT_BYTES = 32 * 1024;
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final int GREATEST_BLOCK_BYTES = 16 * 1024;
  private static final int MANY_MOVING_BYTES = 256 * 1024;

  /** Whose content it is. */
  interface Owner {

    /** Something was written or read: look again. */
    void spoolMoved();
  }

  /** Consecutive octets: in memory, in the file, or on their way between them. */
  private static final class Piece {
    private @Nullable ByteBuf octets;
    private long at = SpoolFile.NOWHERE;
    private int length;
    private boolean isMoving;
  }

  private final Spool spool;
  private final EventLoop loop;
  private final Owner owner;
  private final long memoryBytes;
  private final long mostBytes;
  private final ArrayDeque<Piece> pieces = new ArrayDeque<>(4);
  private final SpoolFile file;
  private @Nullable Piece block;
  private long inMemory;
  private long inFile;
  private long moving;
  private boolean isRefused;
  private boolean isLost;
  private boolean isReleased;

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
    this.file = new SpoolFile(spool, mostBytes);
  }

  /**
   * Takes content in. Takes ownership.
   *
   * @param left octets that will follow, or more than that
   */
  void add(ByteBuf chunk, long left) {
    if (chunk.readableBytes() >= KEPT_BYTES || left <= 0) {
      completeBlock();
      complete(append(chunk));
      return;
    }
    try {
      while (chunk.isReadable()) {
        ByteBuf open = open(chunk, left);
        open.writeBytes(chunk, Math.min(chunk.readableBytes(), open.writableBytes()));
        if (!open.isWritable()) {
          completeBlock();
        }
      }
    } finally {
      chunk.release();
    }
  }

  private ByteBuf open(ByteBuf chunk, long left) {
    if (block != null && block.octets != null) {
      return block.octets;
    }
    long size = Math.clamp(inMemory + inFile, LEAST_BLOCK_BYTES, GREATEST_BLOCK_BYTES);
    size = Math.min(size, chunk.readableBytes() + Math.min(left, size));
    ByteBuf open = chunk.alloc().directBuffer((int) size, (int) size);
    block = append(open);
    return open;
  }

  private Piece append(ByteBuf octets) {
    var piece = new Piece();
    pieces.addLast(piece);
    keep(piece, octets);
    return piece;
  }

  private void keep(Piece piece, ByteBuf octets) {
    piece.octets = octets;
    inMemory += octets.capacity();
    spool.take(octets.capacity());
  }

  private void completeBlock() {
    Piece last = block;
    block = null;
    if (last != null) {
      complete(last);
    }
  }

  /** It grows no more. */
  private void complete(Piece piece) {
    ByteBuf octets = piece.octets;
    if (octets == null || !isBeyondMemory()) {
      return;
    }
    piece.length = octets.readableBytes();
    piece.at = file.place(piece.length);
    isRefused = piece.at == SpoolFile.NOWHERE;
    if (!isRefused) {
      ByteBuffer written = octets.nioBuffer();
      moving += piece.length;
      move(piece, () -> file.write(written, piece.at) ? written : null, this::written);
    }
  }

  private boolean isBeyondMemory() {
    return inMemory > memoryBytes || !spool.hasMemory();
  }

  boolean isEmpty() {
    return pieces.isEmpty();
  }

  /** Whether there is no room for more until some of it is taken. */
  boolean isFull() {
    return !isEmpty()
        && (inMemory + inFile >= mostBytes || (isRefused && isBeyondMemory()));
  }

  boolean isHalfFull() {
    return inMemory + inFile > mostBytes / 2;
  }

  /** Whether so much waits to be written that no more should come for now. */
  boolean isLate() {
    return moving >= MANY_MOVING_BYTES;
  }

  /** Whether some of it cannot be read any more. */
  boolean isLost() {
    return isLost;
  }

  /**
   * The next chunk, the caller's to release; null if none is at hand, and the owner hears of it.
   */
  @Nullable ByteBuf poll() {
    Piece first = pieces.peekFirst();
    if (first == null || first.isMoving) {
      return null;
    }
    if (first.octets == null) {
      move(first, () -> file.read(first.at, first.length), this::read);
      return null;
    }
    pieces.removeFirst();
    block = first == block ? null : block;
    return taken(first);
  }

  private @Nullable ByteBuf taken(Piece piece) {
    ByteBuf octets = piece.octets;
    piece.octets = null;
    if (octets != null) {
      inMemory -= octets.capacity();
      spool.giveBack(octets.capacity());
    }
    return octets;
  }

  // The file

  /** Tells what became of a piece; the result is null if that went wrong. */
  private interface Outcome<T> {
    void of(Piece piece, @Nullable T result);
  }

  /** Works on a thread of the spool, and then on the loop. */
  private <T> void move(Piece piece, Supplier<@Nullable T> work, Outcome<T> outcome) {
    piece.isMoving = true;
    spool.onDisk(
        () -> {
          T result = work.get();
          try {
            loop.execute(() -> moved(piece, result, outcome));
          } catch (RejectedExecutionException loopIsClosed) {
            // All that waits has gone with it.
          }
        },
        () -> loop.execute(() -> moved(piece, null, outcome)));
  }

  private <T> void moved(Piece piece, @Nullable T result, Outcome<T> outcome) {
    piece.isMoving = false;
    outcome.of(piece, result);
    if (isReleased) {
      drop(piece);
    } else {
      owner.spoolMoved();
    }
  }

  private void written(Piece piece, @Nullable ByteBuffer whole) {
    moving -= piece.length;
    if (whole == null) {
      isRefused = true;
      leave(piece);
    } else {
      inFile += piece.length;
      ReferenceCountUtil.release(taken(piece));
    }
  }

  private void read(Piece piece, @Nullable ByteBuf octets) {
    inFile -= piece.length;
    leave(piece);
    if (octets == null) {
      isLost = true;
    } else {
      keep(piece, octets);
    }
  }

  private void leave(Piece piece) {
    if (piece.at != SpoolFile.NOWHERE) {
      piece.at = SpoolFile.NOWHERE;
      file.leave();
    }
  }

  private void drop(Piece piece) {
    leave(piece);
    ReferenceCountUtil.release(taken(piece));
  }

  /** Frees all memory and the file. Idempotent. */
  void release() {
    isReleased = true;
    block = null;
    for (Piece piece : pieces) {
      if (!piece.isMoving) {
        drop(piece);
      }
    }
    pieces.clear();
  }
}
