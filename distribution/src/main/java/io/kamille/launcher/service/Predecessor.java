package io.kamille.launcher.service;

import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The process whose place we take, see {@link Successor}. Confined to the thread that starts. */
public final class Predecessor implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  static final String VARIABLE = "KAMILLE_PREDECESSOR";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MOST_BYTES = 2 * StateMessage.MOST_BYTES;

  private final UnixSocket socket;
  private final CountDownLatch hasSteppedBack = new CountDownLatch(1);

  // Volatile: set by the thread that listens, read by the one that waits for it.
  private volatile boolean isToldToGo;
  private @Nullable Thread follower;

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
    return InheritedSockets.of(descriptors);
  }

  private static int left(String text) throws IOException {
    String count = text.startsWith(Successor.SOCKETS) ? text.substring(8) : "";
    if (!count.matches("[0-9]{1,5}")) {
      throw new IOException(
          text.isEmpty() ? "the running process hung up" : "the running process said " + text);
    }
    return Integer.parseInt(count);
  }

  /**
   * Asks for what one process at a time may have, and for what it knows. If it is gone, there is
   * nobody else.
   */
  Map<String, String> claim() {
    try {
      socket.send(Successor.CLAIM, List.of());
      UnixSocket.Message answer = socket.receive(MOST_BYTES);
      answer.descriptors().forEach(Descriptors::close);
      if (answer.text().startsWith(Successor.YOURS)) {
        return StateMessage.read(answer.text().substring(Successor.YOURS.length()));
      }
      LOG.log(Level.WARNING, "the process before us gave nothing up");
    } catch (IOException gone) {
      LOG.log(Level.WARNING, "the process before us is gone: " + gone.getMessage());
    }
    return Map.of();
  }

  /**
   * Listens to it until its end, to what it removes, on a thread of its own. Tells it what is
   * removed here, once it reads that.
   *
   * @param cache removes what it removes
   * @param removals takes who is to be told of what is removed here; null for nobody any more
   */
  void follow(RemovalListener cache, Consumer<@Nullable RemovalListener> removals) {
    RemovalFeed feed = new RemovalFeed(socket);
    feed.keepNothing();
    Thread listening =
        Thread.ofPlatform()
            .daemon()
            .name("kamille-follow")
            .unstarted(() -> listen(cache, feed, removals));
    feed.ignore(listening);
    removals.accept(feed);
    follower = listening;
    listening.start();
  }

  private void listen(
      RemovalListener cache, RemovalFeed feed, Consumer<@Nullable RemovalListener> removals) {
    try {
      RemovalWords.listen(socket, cache, word -> isGo(word, feed));
    } catch (IOException | RuntimeException failed) {
      LOG.log(Level.WARNING, "the process before us is not heard: " + failed);
    } finally {
      hasSteppedBack.countDown();
      removals.accept(null);
      feed.end();
    }
  }

  private boolean isGo(String word, RemovalFeed feed) {
    if (!word.equals(Successor.GO) || isToldToGo) {
      return false;
    }
    isToldToGo = true;
    feed.begin();
    hasSteppedBack.countDown();
    return true;
  }

  /** Says that we serve, and waits until it steps back. If it is gone, there is nobody else. */
  void ready() {
    try {
      socket.send(Successor.READY, List.of());
      if (!hasSteppedBack.await(PATIENCE.toSeconds(), TimeUnit.SECONDS) || !isToldToGo) {
        LOG.log(Level.WARNING, "the process before us is gone");
      }
    } catch (IOException gone) {
      LOG.log(Level.WARNING, "the process before us is gone: " + gone.getMessage());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    Thread listening = follower;
    if (listening == null) {
      socket.close();
    } else {
      RemovalWords.end(socket, listening);
    }
  }
}
