package io.kamille.cache.memory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file in memory that one process writes and another one reads. One thread. */
public final class PassedFile implements AutoCloseable {

  private final int descriptor;
  private final FileChannel channel;

  private PassedFile(int descriptor, FileChannel channel) {
    this.descriptor = descriptor;
    this.channel = channel;
  }

  /**
   * An empty one.
   *
   * @throws IOException if the system has no such files
   */
  public static PassedFile create(String name) throws IOException {
    return of(MemoryFile.create(name));
  }

  /** One that another process wrote. Takes over the descriptor. */
  public static PassedFile of(int descriptor) throws IOException {
    boolean isOpen = false;
    try {
      FileChannel channel =
          FileChannel.open(
              Path.of("/proc/self/fd/" + descriptor),
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      isOpen = true;
      return new PassedFile(descriptor, channel);
    } finally {
      if (!isOpen) {
        SystemCalls.close(descriptor);
      }
    }
  }

  /** For another process; stays ours. */
  public int descriptor() {
    return descriptor;
  }

  /** Its octets. */
  public FileChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    SystemCalls.close(descriptor);
  }
}
