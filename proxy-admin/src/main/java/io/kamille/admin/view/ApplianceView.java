package io.kamille.admin.view;

import java.util.List;

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

  /**
   * Removes every stored response of a target URI.
   *
   * @param url absolute, {@code http} or {@code https}, with a host
   * @return how many there were
   */
  int purge(String url);
}
