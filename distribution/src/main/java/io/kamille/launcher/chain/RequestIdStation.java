package io.kamille.launcher.chain;

import io.kamille.core.answer.RequestId;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.ResponseHead;

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
    passage.request(RequestId.named(passage.request(), RequestId.random()));
  }

  @Override
  public void judgeResponse(Passage passage) {
    ResponseHead head = passage.response();
    if (head != null) {
      head.fields().remove(RequestId.NAME);
      head.fields().add(RequestId.NAME, RequestId.random());
    }
  }
}
