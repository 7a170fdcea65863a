package io.kamille.perf.wan;

import java.io.IOException;
import java.lang.foreign.Arena;

/** The sockets of another process (pidfd_getfd(2)). Confined. */
public final class ForeignSockets implements AutoCloseable {

  private final Arena scope = Arena.ofConfined();
  private final Posix posix = new Posix(scope);
  private final int process;

  /**
   * Those of that process.
   *
   * @throws IOException if it is gone, or the kernel refuses
   */
  public ForeignSockets(long pid) throws IOException {
    process = posix.process(pid);
  }

  /**
   * Fixes how much content the kernel may hold to send.
   *
   * @return false if it is closed
   */
  public boolean sendBuffer(int descriptor, int bytes) {
    try {
      int socket = posix.copy(process, descriptor);
      try {
        posix.sendBuffer(socket, bytes);
        return true;
      } finally {
        posix.close(socket);
      }
    } catch (IOException closed) {
      return false;
    }
  }

  @Override
  public void close() {
    posix.close(process);
    scope.close();
  }
}
