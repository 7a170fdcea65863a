package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ByteSize;

/** {@code routes[].request-content}: how much content a request may have. */
record ContentLimitStation(long limit) implements Station {

  private static final Failure TOO_LARGE =
      Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over the limit of the route");

  @Override
  public String describe() {
    return "content limit";
  }

  /** Refuses content whose length is known; of the rest, the connection counts what comes. */
  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return exchange -> {
      if (exchange.content().length() > limit) {
        exchange.reply().fail(TOO_LARGE);
      } else {
        exchange.notes().contentLimit(limit);
        next.handle(exchange);
      }
    };
  }

  @Override
  public void judge(Passage passage) {
    String length = passage.request().fields().first(FieldName.CONTENT_LENGTH);
    String found = ByteSize.print(limit) + (length == null ? "" : "; Content-Length: " + length);
    if (length != null && TargetStation.octets(length) > limit) {
      passage.refuse(
          StatusCode.CONTENT_TOO_LARGE,
          reason(found, "it has more content: 413 (Content Too Large)"));
    } else {
      passage.say(reason(found, "a request with more content gets 413"));
    }
  }

  @Override
  public void judgeResponse(Passage passage) {}

  private static Reason reason(String found, String so) {
    return new Reason("request-content", "routes[].request-content", found, so);
  }
}
