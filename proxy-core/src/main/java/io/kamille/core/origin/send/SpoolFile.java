package io.kamille.core.origin.send;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/**
 * The temporary file of one {@link SpooledContent}. Confined to its loop, but for {@link #write}
 * and {@link #read}, which block.
 */
final class SpoolFile {

  /*
   * Pieces lie one behind the other, as they got their places. Room is taken in steps: so the limit
   * on octets limits the number of files, too. Once no piece is in the file, it is given up, and
   * the next piece begins another one.
   */
  static final long STEP_BYTES = 64 << 10;
  static final long NOWHERE = -1;

  private final Spool spool;
  private final long mostBytes;
  // Opened under the lock by whichever write is first; the loop takes it when none is under way.
  private @Nullable FileChannel channel;
  private long endAt;
  private long room;
  private int pieces;

  SpoolFile(Spool spool, long mostBytes) {
    this.spool = spool;
    this.mostBytes = mostBytes;
  }

  /** A place for another piece; {@link #NOWHERE} if there is no room. */
  long place(int length) {
    long at = endAt;
    long lacking = at + length - room;
    if (lacking > 0) {
      long steps = (lacking + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
      if (at + length > mostBytes || !spool.takeFile(steps)) {
        return NOWHERE;
      }
      room += steps;
    }
    endAt += length;
    pieces++;
    return at;
  }

  /** A piece needs its place no more. */
  void leave() {
    pieces--;
    if (pieces > 0) {
      return;
    }
    spool.giveBackFile(room);
    room = 0;
    endAt = 0;
    FileChannel unused = channel;
    channel = null;
    if (unused != null) {
      spool.onDisk(() -> close(unused), () -> close(unused));
    }
  }

  private static void close(FileChannel file) {
    try {
      file.close();
    } catch (IOException nothingIsLost) {
      // Nobody needs the file any more.
    }
  }

  /** Writes all octets to that place; whether that was possible. */
  boolean write(ByteBuffer octets, long at) {
    try {
      FileChannel file = opened();
      for (long to = at; octets.hasRemaining(); ) {
        to += file.write(octets, to);
      }
      return true;
    } catch (IOException | RuntimeException failed) {
      spool.failed(failed);
      return false;
    }
  }

  private synchronized FileChannel opened() throws IOException {
    FileChannel file = channel;
    if (file == null) {
      file = spool.open();
      channel = file;
    }
    return file;
  }

  /** The octets at that place, the caller's to release; null if they cannot be read. */
  @Nullable ByteBuf read(long at, int length) {
    ByteBuf octets = ByteBufAllocator.DEFAULT.directBuffer(length, length);
    try {
      FileChannel file = opened();
      while (octets.isWritable()) {
        if (octets.writeBytes(file, at + octets.readableBytes(), octets.writableBytes()) < 0) {
          throw new EOFException("the file is shorter than what was written");
        }
      }
      return octets;
    } catch (IOException | RuntimeException failed) {
      octets.release();
      spool.failed(failed);
      return null;
    }
  }
}
