package io.kamille.launcher.service;

import io.kamille.core.loop.SteadyTask;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a running Kamille takes orders from its own user and from root: a socket with mode 0600.
 * One order at a time, on a thread of its own.
 */
final class ControlSocket implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  static final Duration MOMENT = Duration.ofMillis(200);
  private static final int ROOT = 0;
  private static final int MOST_BYTES = 4096;

  /** What happens when a word comes. */
  interface Orders {

    /**
     * Does what {@code word} says, and talks to the other side until it is done.
     *
     * @param caller borrowed
     * @throws IOException if the other side is gone; nothing has changed then
     */
    void take(String word, UnixSocket caller) throws IOException;
  }

  private final Path path;
  private final int ownUser;
  private final UnixSocket socket;
  private final Orders orders;
  // Volatile: set by whoever closes, read by the thread.
  private volatile boolean isClosed;

  private ControlSocket(Path path, int ownUser, UnixSocket socket, Orders orders) {
    this.path = path;
    this.ownUser = ownUser;
    this.socket = socket;
    this.orders = orders;
  }

  /**
   * Listens beside {@code path}, until {@link #publish} puts it in the place of whoever is there.
   *
   * @throws IOException if that cannot be
   */
  static ControlSocket open(Path path, Orders orders) throws IOException {
    Path own = unpublished(path, ProcessHandle.current().pid());
    Files.deleteIfExists(own);
    UnixSocket socket = UnixSocket.listen(own.toString());
    int ownUser;
    try {
      socket.timeout(MOMENT);
      Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rw-------"));
      ownUser = (Integer) Files.getAttribute(own, "unix:uid");
    } catch (IOException failed) {
      socket.close();
      throw failed;
    }
    ControlSocket control = new ControlSocket(path, ownUser, socket, orders);
    Thread.ofPlatform().daemon().name("kamille-orders").start(control::serve);
    return control;
  }

  private static Path unpublished(Path path, long processId) {
    return path.resolveSibling(path.getFileName() + "." + processId);
  }

  /** Puts what that process listens on in our place. Doing it again does nothing. */
  static void publish(Path path, long processId) throws IOException {
    Path other = unpublished(path, processId);
    if (Files.exists(other)) {
      Files.move(other, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Whether anybody listens at {@code path}. */
  static boolean isServed(Path path) {
    try {
      UnixSocket.connect(path.toString()).close();
      return true;
    } catch (IOException nobody) {
      return false;
    }
  }

  private void serve() {
    new SteadyTask(LOG, path.toString(), this::serveNext).repeatUntil(() -> isClosed);
    socket.close();
  }

  private void serveNext() throws IOException {
    try (UnixSocket caller = next()) {
      if (caller != null) {
        serve(caller);
      }
    }
  }

  /**
   * The next who may give orders; null if nobody came for a moment. On the thread of the orders.
   */
  @Nullable UnixSocket next() throws IOException {
    UnixSocket caller = socket.accept();
    if (caller == null) {
      return null;
    }
    caller.timeout(PATIENCE);
    int user = caller.peer().userId();
    if (user == ROOT || user == ownUser) {
      return caller;
    }
    LOG.log(Level.WARNING, "an order of user " + user + " was refused");
    caller.close();
    return null;
  }

  private void serve(UnixSocket caller) throws IOException {
    String word;
    try {
      word = caller.receive(MOST_BYTES).text().strip();
    } catch (UnixSocket.TooLong refused) {
      caller.send(Upgrade.FAILED + refused.getMessage(), List.of());
      throw refused;
    }
    if (!word.isEmpty()) {
      orders.take(word, caller);
    }
  }

  /** Stops listening. The file stays: it may be another process's by now. */
  @Override
  public void close() {
    isClosed = true;
  }
}
