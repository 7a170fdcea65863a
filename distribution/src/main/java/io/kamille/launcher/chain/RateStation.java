package io.kamille.launcher.chain;

import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead.Sender;
import java.util.List;
import java.util.stream.Collectors;

/** {@code routes[].rate-limit}: how often requests may come. */
record RateStation(List<RateLimitSettings> rates) implements Station.Gate {

  @Override
  public String describe() {
    return "rate-limit";
  }

  @Override
  public RouteGate gate(Link link) {
    RouteGate gate = link.rates();
    return link.parts().peers() == null
        ? gate
        : exchange -> exchange.request().sender() == Sender.CLIENT ? gate.refusal(exchange) : null;
  }

  @Override
  public void judge(Passage passage) {
    passage.say(
        "rate-limit",
        "routes[].rate-limit",
        rates.stream().map(RateLimitSettings::describe).collect(Collectors.joining("; ")),
        "a request over a rate gets 429");
  }

  @Override
  public void judgeResponse(Passage passage) {}
}
