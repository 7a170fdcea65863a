package io.kamille.core.socket;

/**
 * Octets on their way to a socket that lie in a store: while they wait, the store cannot use their
 * memory for anything else, but they take none beyond it.
 */
public interface Leased {

  /** How many still wait. On the loop of the socket. */
  int waitingBytes();
}
