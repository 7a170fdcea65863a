package io.kamille.core.h2;

import io.kamille.core.http.RequestHead;

/** Who answers the requests of one connection. Confined to its loop. */
public interface RequestOwner extends StreamOwner {

  /** An empty head for the next request. */
  RequestHead newHead();

  /**
   * A request came; {@link #begin} follows at the end of the burst, unless the stream is over by
   * then.
   *
   * @param carrier for the stream
   * @param head from {@link #newHead}
   * @param contentLength -1 if the request does not say
   * @param isLast whether no content follows
   */
  H2Stream opened(
      H2Stream.Carrier carrier,
      int id,
      RequestHead head,
      RequestSink.Verdict verdict,
      long contentLength,
      boolean isLast);

  /** Hands the request of this stream on. */
  void begin(H2Stream stream);
}
