package io.kamille.launcher.chain;

import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;

/** {@code routes[].error-pages}: whoever tells of an error shows the page of the route. */
record ErrorPagesStation() implements Station {

  @Override
  public String describe() {
    return "error-pages";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return showing(link.pages(), next);
  }

  static ExchangeHandler showing(ErrorPages pages, ExchangeHandler next) {
    return exchange -> {
      if (ErrorPages.suit(exchange.request())) {
        exchange.notes().errorPages(pages);
      }
      next.handle(exchange);
    };
  }

  @Override
  public void judge(Passage passage) {
    if (ErrorPages.suit(passage.request())) {
      passage.say("error-pages", "routes[].error-pages", "on", "errors show pages of the route");
    }
  }

  @Override
  public void judgeResponse(Passage passage) {
    // RuleStation gives the pages that replace what an origin sends.
  }
}
