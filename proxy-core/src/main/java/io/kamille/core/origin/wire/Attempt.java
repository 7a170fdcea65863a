package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;

/**
 * A request on its {@link RequestCarrier}, as the carrier sees it: what to send, whom to answer,
 * and whom to tell how it went. Confined to its loop.
 */
public interface Attempt {

  Exchange exchange();

  /** The reply as it was when the exchange came: it may be used a little longer than that. */
  Reply reply();

  RequestContent content();

  /** Whether the content waits for a 100 that the client has asked for (RFC 9110 §10.1.1). */
  default boolean awaitsContinue() {
    RequestHead request = exchange().request();
    return content().length() != 0
        && !content().isAskedFor()
        && request.minorVersion() == 1
        && request.fields().has(FieldName.EXPECT);
  }

  /**
   * A valid final head has come and is about to be passed on: there will be no other attempt.
   * Borrows the head until it returns.
   */
  void answered(ResponseHead head);

  /** The response is complete, or the tunnel closed; said before the reply ends. */
  void ended();

  /**
   * It came to nothing, and its carrier is gone. Nothing more is said to the reply.
   *
   * @param repeat whether another connection could begin from the beginning
   * @param isCounted whether it tells of the origin, and nobody else has told the same
   */
  void failed(Failure why, Repeat repeat, boolean isCounted);
}
