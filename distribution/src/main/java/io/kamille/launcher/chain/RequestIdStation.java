package io.kamille.launcher.chain;

import io.kamille.core.answer.RequestId;
import io.kamille.core.exchange.ExchangeHandler;

/** {@code routes[].request-id}: each request gets a name. */
record RequestIdStation() implements Station {

  @Override
  public String describe() {
    return "request-id";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return new RequestId(next);
  }

  @Override
  public void judge(Passage passage) {
    passage.say("request-id", "routes[].request-id", "on", "it gets a name in " + RequestId.NAME);
  }
}
