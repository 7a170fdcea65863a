package io.kamille.launcher.chain;

import io.kamille.core.answer.SecurityFields;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;

/** {@code routes[].security-headers}: answers of our own get fields, too. */
record SecurityHeadersStation() implements Station {

  @Override
  public String describe() {
    return "security-headers";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return exchange -> {
      exchange.notes().securityFields();
      next.handle(exchange);
    };
  }

  @Override
  public void judge(Passage passage) {
    boolean isSecure = passage.request().isSecure();
    passage.say(
        "security-headers",
        "routes[].security-headers",
        isSecure ? "https" : "http",
        "a response that lacks them gets "
            + String.join(", ", SecurityFields.all(isSecure).keySet()));
  }

  @Override
  public void judgeResponse(Passage passage) {
    ResponseHead head = passage.response();
    if (head != null && head.status() != StatusCode.NOT_MODIFIED) {
      SecurityFields.addTo(head.fields(), passage.request().isSecure());
    }
  }
}
