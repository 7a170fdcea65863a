package io.kamille.launcher.chain;

import io.kamille.cache.decision.ColdCache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.fill.Fetches.Onward;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cache.station.CacheBypass;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cluster.peer.PeerStation;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.answer.StoredRules;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** {@code routes[].cache}: stored responses answer. */
record CacheStation(RouteSettings route, SharedCacheSettings shared) implements Station {

  @Override
  public String describe() {
    return "cache";
  }

  /** With a cluster, it asks other nodes before all that follows. */
  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    if (link.isOther()) {
      return handler(next, link).bypass("split");
    }
    CacheHandler own = link.cache(() -> handler(next, link));
    ExchangeHandler first = link.isPastCache() ? own.bypass("path") : own;
    RouteActions actions = route.actions();
    return StoredRules.before(first, actions.responseHeaders(), actions.securityHeaders());
  }

  private CacheHandler handler(ExchangeHandler next, Link link) {
    Peers peers = link.parts().peers();
    ExchangeHandler storable = peers == null ? next : new PeerStation(peers, next);
    Onward onward = new Onward(next, storable, link.parts().name());
    return link.parts().cache().handler(onward, route.cache(), shared, link.forwards());
  }

  @Override
  public void judge(Passage passage) {
    ColdCache cold = passage.facts().cold();
    if (passage.isOther()) {
      passage.forward(CacheBypass.reason(passage.request()));
      passage.find(RequestTest.CACHE, RequestTest.BYPASS, passage.deciding());
      return;
    }
    RequestHead request = passage.request();
    String path = passage.facts().bypassPath();
    Explanation decided = path == null ? passage.facts().lookUp(request) : past(request, path);
    passage.decide(decided);
    boolean isAsked = passage.isDecided(Decision.FORWARD) || passage.isDecided(Decision.VALIDATE);
    Reason owner = isAsked ? passage.facts().owner(request) : null;
    if (owner != null) {
      passage.say(owner);
    }
    if (cold == null) {
      return;
    }
    if (path != null || cold.isBypassed(request)) {
      passage.find(RequestTest.CACHE, RequestTest.BYPASS, decided.because().getFirst());
    } else {
      passage.find(RequestTest.CACHE, RequestTest.LOOKUP, null);
      passage.find(RequestTest.KEY, NormalUri.of(cold.filtered(request)), null);
      passage.request(cold.asked(request));
    }
  }

  private static Explanation past(RequestHead request, String path) {
    Reason bypassed =
        new Reason(
            "path",
            "RFC 9111 §2",
            "routes[].cache.bypass-paths: " + path,
            "it is forwarded, and nothing is stored");
    return new Explanation(
        Decision.PASS, CacheBypass.reason(request), null, List.of(bypassed), bypassed, 0, null);
  }

  @Override
  public void judgeResponse(Passage passage) {
    ColdCache cold = passage.facts().cold();
    ResponseHead head = passage.response();
    if (cold == null || head == null) {
      return;
    }
    if (passage.found().containsKey(RequestTest.KEY)) {
      RequestHead asked = cold.filtered(passage.request());
      passage.find(RequestTest.VARY_BY, varyBy(head.fields()), null);
      Storability storability = cold.storability(asked, head);
      Freshness freshness = cold.freshness(head);
      boolean isStored = storability.isStorable();
      int seconds = isStored ? freshness.lifetimeSeconds() : RequestTest.NOT_STORED;
      String against = storability.clause() + " (" + storability.section() + ")";
      String so = isStored ? "fresh by " + freshness.source().token() : against;
      passage.find(
          RequestTest.LIFETIME,
          RequestTest.LIFETIME.type().print(seconds),
          new Reason("response", "RFC 9111 §3", "", so));
    }
    RequestHead request = passage.request();
    String path = passage.facts().bypassPath();
    String passes = passage.isOther() ? "split" : path == null ? null : "path";
    passage.response(
        passes == null
            ? cold.answered(request, head)
            : cold.passed(request, head, CacheBypass.forwarding(request, passes)));
  }

  private List<String> varyBy(Fields response) {
    var members = new TreeSet<>(route.cache().varyBy());
    for (String line : response.all("Vary")) {
      members.addAll(List.of(line.strip().split("\\s*,\\s*")));
    }
    return normal(members);
  }

  /** In one order. Names of fields have no case; those of cookies do. */
  static List<String> normal(Collection<String> members) {
    return members.stream()
        .map(member -> member.indexOf(':') < 0 ? member.toLowerCase(Locale.ROOT) : member)
        .distinct()
        .sorted()
        .toList();
  }
}
