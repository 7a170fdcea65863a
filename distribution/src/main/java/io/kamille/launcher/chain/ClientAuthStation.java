package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.StatusCode;

/** {@code routes[].auth}: who clients are. */
record ClientAuthStation(AuthSettings settings) implements Station {

  @Override
  public String describe() {
    return "auth by " + name();
  }

  /** Who decides: {@code password}, {@code token} or an upstream. */
  private String name() {
    if (settings.forward().upstream() != null) {
      return "upstream " + settings.forward().upstream();
    }
    return settings.jwt().keys() == null ? "password" : "token";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return settings.station(
        server -> link.marked(link.ways().authServer(server)),
        link.parts().auth(),
        link.parts().clock(),
        next);
  }

  @Override
  public void judge(Passage passage) {
    boolean isAsked = settings.forward().upstream() != null;
    if (isAsked || passage.request().fields().has(FieldName.AUTHORIZATION)) {
      passage.say(reason("what follows is for a request that it lets pass"));
      passage.request(settings.passed(passage.request()));
    } else {
      passage.refuse(StatusCode.UNAUTHORIZED, reason("no Authorization: 401 (Unauthorized)"));
    }
  }

  @Override
  public void judgeResponse(Passage passage) {
    // The cookies of an auth server are known to it alone.
  }

  private Reason reason(String so) {
    return new Reason("auth", "routes[].auth", name(), so);
  }
}
