package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.origin.choose.SplitSettings;
import java.net.InetAddress;

/**
 * {@code routes[].split}: some clients get another upstream, past the cache. What that one answers
 * is neither stored nor taken from the store: else one client would see both versions, and
 * everybody the new one.
 */
record SplitStation(SplitSettings settings) implements Station {

  @Override
  public String describe() {
    return "split (some to " + settings.upstream() + ", past the cache)";
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    ExchangeHandler other = link.other();
    return exchange ->
        (settings.takes(exchange.client().getAddress()) ? other : next).handle(exchange);
  }

  @Override
  public void judge(Passage passage) {
    InetAddress client = passage.client();
    String usual = "the route's own upstream gets it";
    if (client == null) {
      passage.say(reason(usual + ", or the other one: give a client to know"));
    } else if (settings.takes(client)) {
      passage.turnToOther(reason("upstream " + settings.upstream() + " gets it, past the cache"));
    } else {
      passage.say(reason(usual));
    }
  }

  @Override
  public void judgeResponse(Passage passage) {}

  private Reason reason(String so) {
    String found = "share " + settings.share();
    return new Reason("split", "routes[].split", found, so);
  }
}
