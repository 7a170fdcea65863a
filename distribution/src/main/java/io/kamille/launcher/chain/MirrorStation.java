package io.kamille.launcher.chain;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.origin.send.MirrorHandler;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.Objects;

/** {@code routes[].mirror}: another upstream gets copies. */
record MirrorStation(MirrorSettings settings, RouteSettings route) implements Station {

  @Override
  public String describe() {
    return "mirror (copies to " + settings.upstream() + ")";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    if (link.isOther()) {
      return next;
    }
    String name = Objects.requireNonNull(settings.upstream(), "mirror.upstream");
    ExchangeHandler copies = link.marked(link.ways().handler(name, route));
    return new MirrorHandler(next, copies, link.parts().mirrorDropped());
  }

  @Override
  public void judge(Passage passage) {
    if (!passage.isOther()) {
      passage.say(
          "mirror", "routes[].mirror", "upstream " + settings.upstream(), "it may get a copy");
    }
  }

  @Override
  public void judgeResponse(Passage passage) {}
}
