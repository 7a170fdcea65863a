package io.kamille.launcher.service;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;

/**
 * The process that has taken over, until our end: told what is removed here, and heard, so that we
 * remove what it removes. Any thread.
 */
final class Heir {

  private static final System.Logger LOG = System.getLogger("kamille.service");

  private final UnixSocket socket;
  private final Optional<RemovalFeed> feed;
  private final Thread listening;

  @GuardedBy("this")
  private boolean isEnded;

  /**
   * Takes ownership of the socket.
   *
   * @param feed that tells it, if it claimed anything
   * @param cache removes what it removes
   */
  Heir(UnixSocket socket, Optional<RemovalFeed> feed, RemovalListener cache) {
    this.socket = socket;
    this.feed = feed;
    listening = Thread.ofPlatform().daemon().name("kamille-heir").unstarted(() -> listen(cache));
    feed.ifPresent(told -> told.ignore(listening));
  }

  /** Tells it that everything is its own, and listens from then on. */
  synchronized void go() throws IOException {
    if (!isEnded) {
      socket.send(Successor.GO, List.of());
      listening.start();
    }
  }

  private void listen(RemovalListener cache) {
    try {
      RemovalWords.listen(socket, cache, word -> false);
    } catch (IOException | RuntimeException failed) {
      LOG.log(Level.WARNING, "the process after us is not heard: " + failed);
    }
  }

  /** Tells it what is left to tell. */
  void end() {
    synchronized (this) {
      isEnded = true;
    }
    feed.ifPresent(RemovalFeed::end);
    RemovalWords.end(socket, listening);
  }
}
