package io.kamille.core.h2;

import io.netty.handler.codec.http2.Http2Settings;

/** Who sends requests on one connection. Confined to its loop. */
public interface PeerOwner extends StreamOwner {

  /** What the other side allows, which may change at any time (RFC 9113 §6.5). */
  void settings(Http2Settings given);

  /**
   * The other side takes no more streams, and has done nothing for those above this id (RFC 9113
   * §6.8).
   */
  void goAway(int lastId);
}
