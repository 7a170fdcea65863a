package io.kamille.launcher.service;

import io.kamille.cache.purge.RemovalListener;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What serves now, and what the one that comes after it wants of it. One call at a time. */
public interface Incumbent {

  /** The listening sockets of each address, as descriptors that stay the incumbent's. */
  Map<String, List<Integer>> listeningSockets();

  /**
   * Gives up what one process at a time may have, and serves on without it.
   *
   * @param heir told of everything that is removed from the cache from now on, by any thread
   * @return what the other process is to know, by name; secrets are among it
   */
  Map<String, String> release(RemovalListener heir);

  /**
   * Takes that back: the other process is gone.
   *
   * @param meanwhile plays to a listener what the heir was told, and all that comes
   * @throws IOException if it cannot be had; the incumbent serves on without it
   */
  void takeBack(Consumer<RemovalListener> meanwhile) throws IOException;

  /** Removes here what the other process removes, after {@link #release}. Any thread. */
  RemovalListener follower();

  /** Accepts nothing more. */
  void stepBack();
}
