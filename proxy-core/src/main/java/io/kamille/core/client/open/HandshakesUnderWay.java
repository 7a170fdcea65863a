package io.kamille.core.client.open;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The TLS handshakes of one listener on one loop that have not come to their end. Confined to its
 * loop.
 */
final class HandshakesUnderWay {

  /** One of them. */
  interface Handshake {

    /** Yields to a newer one: ends, and is over by then. */
    void displace();
  }

  /*
   * Each holds native memory that its client has paid nothing for. When there are too many, the
   * oldest yields: a client that does nothing wrong is done within a few round trips. Those that
   * come later are not kept waiting by those that never go on.
   */
  private final Set<Handshake> handshakes = new LinkedHashSet<>();
  private final int limit;

  HandshakesUnderWay(int limit) {
    this.limit = limit;
  }

  void begun(Handshake handshake) {
    handshakes.add(handshake);
    if (handshakes.size() > limit) {
      handshakes.iterator().next().displace();
    }
  }

  void over(Handshake handshake) {
    handshakes.remove(handshake);
  }
}
