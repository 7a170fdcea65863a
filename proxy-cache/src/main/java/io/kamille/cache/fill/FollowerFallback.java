package io.kamille.cache.fill;

import io.kamille.cache.serve.Forwarding;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;

/** What becomes of a follower that the flight does not serve. Called on its loop. */
public interface FollowerFallback {

  /** Asks the cache again, which may let the request wait for so long. */
  void lookAgain(Exchange exchange, Wait wait);

  /** Answers although the origin has no answer. */
  void failed(Exchange exchange, Forwarding forwarding, Failure why);

  /** A client was broken off because it held others up. */
  void brokenOffSlow();
}
