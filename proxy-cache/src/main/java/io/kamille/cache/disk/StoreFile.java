package io.kamille.cache.disk;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/** One open file of a store. Any thread may read; writing is confined to one. */
public interface StoreFile extends AutoCloseable {

  /** Writes some of what remains in {@code source}, as {@link java.nio.channels.FileChannel}. */
  int write(ByteBuffer source, long position) throws IOException;

  /** Reads some of what fits into {@code target}, or returns -1 at the end of the file. */
  int read(ByteBuffer target, long position) throws IOException;

  /** How many octets it has. */
  long length() throws IOException;

  /** Forgets all octets from there on. */
  void truncate(long length) throws IOException;

  /** Returns when what was written has reached the device. */
  void force() throws IOException;

  /** The file as one that regions can be sent of, if it is one. */
  default @Nullable FileChannel channel() {
    return null;
  }

  /** Has the kernel read those octets into its memory, as far as they are there. Waits for it. */
  default void fetch(long position, long count) throws IOException {}

  @Override
  void close() throws IOException;

  /** Writes all that remains in {@code source}, in as many steps as it takes. */
  default void writeFully(ByteBuffer source, long position) throws IOException {
    long at = position;
    while (source.hasRemaining()) {
      int count = write(source, at);
      if (count <= 0) {
        throw new IOException("nothing was written, at octet " + at);
      }
      at += count;
    }
  }

  /**
   * Fills what remains of {@code target}.
   *
   * @throws EOFException if the file ends before
   */
  default void readFully(ByteBuffer target, long position) throws IOException {
    long at = position;
    while (target.hasRemaining()) {
      int count = read(target, at);
      if (count <= 0) {
        throw new EOFException("the file ends at octet " + at);
      }
      at += count;
    }
  }
}
