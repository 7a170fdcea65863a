package io.kamille.core.origin.wire;

import io.kamille.core.exchange.ContentSource;

/**
 * Carries one request to an origin and its response back: a connection of HTTP/1.1, a stream of
 * HTTP/2. Confined to its loop.
 */
public interface RequestCarrier extends ContentSource {

  /** Sends the request of {@code attempt}, which must have no other carrier; once. */
  void send(Attempt attempt);
}
