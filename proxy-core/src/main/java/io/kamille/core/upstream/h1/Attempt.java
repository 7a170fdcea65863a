package io.kamille.core.upstream.h1;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.failure.Failure;

/**
 * A request on one {@link OriginConnection}, as the connection sees it: what to send, whom to
 * answer, and whom to tell how it went. Confined to its loop.
 */
public interface Attempt {

  Exchange exchange();

  /** The reply as it was when the exchange came: it may be used a little longer than that. */
  Reply reply();

  RequestContent content();

  /** A valid final head has come and is about to be passed on: there will be no other attempt. */
  void answered(int status);

  /** The response is complete, or the tunnel closed; said before the reply ends. */
  void ended();

  /**
   * It came to nothing, and the connection is closed. Nothing more is said to the reply.
   *
   * @param mayRepeat whether no octet of a response came and no octet of content was taken from the
   *     client, so that another connection could begin from the beginning
   */
  void failed(Failure why, boolean mayRepeat);
}
