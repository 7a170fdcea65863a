package io.kamille.launcher.service;

import io.kamille.cache.purge.RemovalListener;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a process begins with. One thread.
 *
 * @param sockets those that listen already
 * @param predecessor the process whose place we take
 */
public record Inheritance(InheritedSockets sockets, Optional<Predecessor> predecessor) {

  /** Nothing. */
  public static Inheritance none() {
    return new Inheritance(InheritedSockets.none(), Optional.empty());
  }

  /** Whether another Kamille still serves. */
  public boolean isFromPredecessor() {
    return predecessor.isPresent();
  }

  /**
   * Asks for what one process at a time may have, and waits until it is ours.
   *
   * @return what the process before us knew, by name; nothing if it is gone or not understood
   */
  public Map<String, String> claim() {
    return predecessor.map(Predecessor::claim).orElse(Map.of());
  }

  /**
   * Has removed here what the process before us removes from now on, on a thread of its own, and
   * has it told of what is removed here.
   *
   * @param removals takes who is to be told, and null once there is nobody any more
   */
  public void follow(RemovalListener cache, Consumer<@Nullable RemovalListener> removals) {
    predecessor.ifPresent(before -> before.follow(cache, removals));
  }
}
