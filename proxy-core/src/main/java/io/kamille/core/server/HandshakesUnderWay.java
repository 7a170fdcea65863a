package io.kamille.core.server;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The TLS handshakes of one listener on one loop that have not come to their end. Confined to its
 * loop.
 */
final class HandshakesUnderWay {

  /*
   * Each holds native memory that its client has paid nothing for. When there are too many, the
   * oldest yields: a client that does nothing wrong is done within a few round trips. Those that
   * come later are not kept waiting by those that never go on.
   */
  private final Set<TlsOpening> openings = new LinkedHashSet<>();
  private final int limit;

  HandshakesUnderWay(int limit) {
    this.limit = limit;
  }

  void begun(TlsOpening opening) {
    openings.add(opening);
    if (openings.size() > limit) {
      openings.iterator().next().displace();
    }
  }

  void over(TlsOpening opening) {
    openings.remove(opening);
  }
}
