package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.RequestId;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.launcher.configuration.RouteActions;
import java.util.function.UnaryOperator;

/** What a route makes of fields and paths. */
final class RuleStation implements Station {

  /*
   * Who may validate a text need not be somebody who may read files. So judgements have what the
   * text says, `${file:…}` included: no expectation finds out what is in the file.
   */
  private static final ExchangeHandler NOBODY = exchange -> {};

  private final RouteActions actions;
  private final String path;
  private final RuledHandler asWritten;

  RuleStation(RouteActions actions, String path) {
    this.actions = actions;
    this.path = path;
    asWritten =
        rules(HeaderRules::asWritten, NOBODY, ErrorPageSettings.asWritten(actions.errorPages()));
  }

  private RuledHandler rules(
      UnaryOperator<HeaderRules> read, ExchangeHandler next, ErrorPages pages) {
    HeaderRules response = read.apply(actions.responseHeaders());
    return new RuledHandler(
        next,
        read.apply(actions.requestHeaders()),
        actions.requestId() ? RequestId.ofStored(response) : response,
        actions.securityHeaders(),
        path,
        actions.pathRewrite(),
        pages);
  }

  @Override
  public String describe() {
    return "headers and path";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return rules(rules -> rules, next, link.pages());
  }

  @Override
  public void judge(Passage passage) {
    RequestHead came = passage.request();
    RequestHead passed = asWritten.passed(came);
    if (passed == null) {
      passage.refuse(
          StatusCode.BAD_REQUEST,
          new Reason(
              "path-rewrite",
              "routes[].path-rewrite",
              came.path(),
              "dots between encoded slashes or backslashes: 400 (Bad Request)"));
    } else if (passed != came) {
      String next = passed.pathAndQuery();
      String so = "the origin gets other fields";
      passage.say(
          "headers",
          "routes[].request-headers, path-rewrite",
          came.pathAndQuery(),
          next.equals(came.pathAndQuery()) ? so : "the origin is asked for " + next);
      passage.request(passed);
    }
  }

  @Override
  public void judgeResponse(Passage passage) {
    ResponseHead head = passage.response();
    if (head != null) {
      asWritten.change(passage.request(), head);
    }
  }
}
