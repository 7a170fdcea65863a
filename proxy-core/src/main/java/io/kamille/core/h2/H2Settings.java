package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;

/**
 * What we allow the other side of a connection.
 *
 * @param streams that may be open at a time
 * @param head limits of a header section
 * @param streamWindowBytes content that may be under way on one stream
 * @param connectionWindowBytes content that may be under way on all streams together
 */
public record H2Settings(
    int streams, HeadLimits head, int streamWindowBytes, int connectionWindowBytes) {

  /** What suits clients. */
  public static H2Settings clients(HeadLimits head) {
    return new H2Settings(128, head, 64 * 1024, 256 * 1024);
  }

  /** What suits origins, which may open no streams: windows of streams grow as they are used. */
  public static H2Settings origins() {
    return new H2Settings(0, HeadLimits.RESPONSE, 128 * 1024, 16 * 1024 * 1024);
  }
}
