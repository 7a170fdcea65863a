package io.kamille.admin.view;

import io.kamille.cache.StoredObject;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceSettings;
import java.util.List;
import java.util.OptionalInt;

/**
 * The appliance as the control plane sees it. Asked on the control plane's loop, which must not
 * wait long: answers are copies of numbers that are there already.
 */
public interface ApplianceView {

  /** How far the appliance has come. */
  enum State {
    /** Not yet accepting on all listeners. */
    STARTING,
    READY,
    /** Finishing exchanges, accepting none. */
    DRAINING
  }

  State state();

  String version();

  /** When the process began, in milliseconds since the epoch. */
  long startedEpochMillis();

  List<ListenerSnapshot> listeners();

  List<LoopSnapshot> loops();

  CacheSnapshot cache();

  List<UpstreamSnapshot> upstreams();

  /** How the loops turn, in the order of {@link #loops}. */
  List<LoopTurns> turns();

  /** How the loops pace themselves. */
  PaceSettings pace();

  /** Another pace, from each loop's next turn on, until a configuration with another is loaded. */
  void pace(PaceSettings settings);

  /**
   * What is stored for a target URI, all variants of it.
   *
   * @param url absolute, {@code http} or {@code https}; one that a request can have as its target
   */
  List<StoredObject> objects(String url);

  /**
   * Removes every stored response of a target URI.
   *
   * @param url absolute, {@code http} or {@code https}
   * @return how many there were; empty if no request can have that target URI
   */
  OptionalInt purge(String url);
}
