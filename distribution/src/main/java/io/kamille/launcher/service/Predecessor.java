package io.kamille.launcher.service;

import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The process whose place we take, see {@link Successor}. One thread. */
public final class Predecessor implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  static final String VARIABLE = "KAMILLE_PREDECESSOR";
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int MOST_BYTES = 4096;

  private final UnixSocket socket;

  private Predecessor(UnixSocket socket) {
    this.socket = socket;
  }

  /**
   * The one that started us to succeed it, if one did.
   *
   * @throws IOException if it is gone
   */
  public static Optional<Predecessor> of(Map<String, String> environment) throws IOException {
    String path = environment.getOrDefault(VARIABLE, "");
    if (path.isEmpty()) {
      return Optional.empty();
    }
    UnixSocket socket = UnixSocket.connect(path);
    try {
      socket.timeout(PATIENCE);
    } catch (IOException failed) {
      socket.close();
      throw failed;
    }
    return Optional.of(new Predecessor(socket));
  }

  /**
   * Asks for its listening sockets.
   *
   * @throws IOException if it does not give them
   */
  public InheritedSockets sockets() throws IOException {
    socket.send(Successor.TAKE_OVER, List.of());
    List<Integer> descriptors = new ArrayList<>();
    int left;
    do {
      UnixSocket.Message message = socket.receive(MOST_BYTES);
      descriptors.addAll(message.descriptors());
      left = left(message.text());
    } while (left > 0);
    return InheritedSockets.of(descriptors, true);
  }

  private static int left(String text) throws IOException {
    String count = text.startsWith(Successor.SOCKETS) ? text.substring(8) : "";
    if (!count.matches("[0-9]{1,5}")) {
      throw new IOException(
          text.isEmpty() ? "the running process hung up" : "the running process said " + text);
    }
    return Integer.parseInt(count);
  }

  /** Says that we serve, and waits until it steps back. If it is gone, there is nobody else. */
  void ready() {
    try {
      socket.send(Successor.READY, List.of());
      socket.receive(MOST_BYTES);
    } catch (IOException gone) {
      LOG.log(Level.WARNING, "the process before us is gone: " + gone.getMessage());
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
