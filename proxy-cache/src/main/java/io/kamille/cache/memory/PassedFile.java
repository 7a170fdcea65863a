package io.kamille.cache.memory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in memory that one process writes and another one reads. One thread.
 *
 * @param descriptor for another process; stays ours
 * @param channel its octets
 */
public record PassedFile(int descriptor, FileChannel channel) implements AutoCloseable {

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
    try {
      Path path = Path.of("/proc/self/fd/" + descriptor);
      return new PassedFile(
          descriptor, FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
    } catch (Throwable failed) {
      SystemCalls.close(descriptor);
      throw failed;
    }
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
