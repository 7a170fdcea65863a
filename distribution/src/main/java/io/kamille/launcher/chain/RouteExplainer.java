package io.kamille.launcher.chain;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.peer.Peers.Ownership;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.gate.ForwardedReader;
import io.kamille.core.gate.TrustedProxies;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Explains what becomes of requests under one configuration. Immutable; any thread.
 *
 * @param routes that requests are routed by
 * @param chains the stations of each route
 * @param purgeMethod what comes before all routes; null if nothing does
 * @param peers the other nodes, if they are asked
 */
public record RouteExplainer(
    RouteTable routes,
    Map<Route, ? extends RouteFacts> chains,
    @Nullable PurgeMethod purgeMethod,
    Optional<Peers> peers) {

  /**
   * What would become of a request, from its route on.
   *
   * @param route its most specific route, or null if there is none
   * @param explanation what is done, and why
   */
  public record RequestExplanation(@Nullable MatchedRoute route, Explanation explanation) {}

  /**
   * The route of a request.
   *
   * @param name what log and metrics call it
   * @param host it answers for
   * @param path the beginning of the paths it answers for
   * @param upstream its requests are forwarded to
   * @param cached whether responses may be stored and reused
   */
  public record MatchedRoute(
      String name, String host, String path, String upstream, boolean cached) {}

  public RouteExplainer {
    chains = Map.copyOf(chains);
  }

  /** Whose request it is that comes from {@code peer}, at the first listener that trusts it. */
  public static InetAddress named(
      List<ListenerSettings> listeners,
      RequestHead request,
      InetAddress peer,
      List<Reason> because) {
    String setting = "listeners[].trusted-proxies";
    boolean isAnyTrusted = false;
    for (ListenerSettings listener : listeners) {
      TrustedProxies proxies = listener.trustedProxies();
      ForwardedReader reader = proxies.reader(new InetSocketAddress(peer, 0));
      isAnyTrusted |= reader != null;
      if (reader != null && reader.isTrusted()) {
        String list = String.join(", ", request.fields().all(proxies.field()));
        String trusted = NetUtil.toAddressString(peer) + " is a trusted proxy of listener ";
        String found = trusted + listener.name() + "; " + proxies.field().text() + ": " + list;
        reader.identify(request);
        InetAddress client = request.client(new InetSocketAddress(peer, 0)).getAddress();
        String asked = (request.isSecure() ? "https://" : "http://") + request.authority();
        String so = "the client is " + NetUtil.toAddressString(client) + ", and asks for " + asked;
        because.add(new Reason("client", setting, found, so));
        return client;
      }
    }
    if (isAnyTrusted) {
      because.add(
          new Reason(
              "client",
              setting,
              NetUtil.toAddressString(peer) + " is no trusted proxy",
              "it is the client, and no field can name another"));
    }
    return peer;
  }

  /**
   * What becomes of a request.
   *
   * @param client whose it is; null to leave that open
   */
  public RequestExplanation explain(RequestHead request, @Nullable InetAddress client) {
    Route route = routes.find(request);
    if (route != null) {
      request.partition(route.partition());
    }
    Explanation purge = purgeMethod == null ? null : purgeMethod.explain(request);
    if (route == null) {
      return new RequestExplanation(null, purge == null ? noRoute(request) : purge);
    }
    RouteFacts facts = facts(route);
    MatchedRoute matched =
        new MatchedRoute(
            route.name(),
            route.host(),
            facts.route().path(),
            RouteStations.targetName(facts.route()),
            isLookedUp(facts));
    if (purge != null) {
      return new RequestExplanation(matched, purge.after(List.of(routed(route, facts, request))));
    }
    var passage = new Passage(facts, request, client, null, null);
    walk(route, passage);
    return new RequestExplanation(matched, passage.explanation());
  }

  RouteFacts facts(Route route) {
    return Objects.requireNonNull(chains.get(route));
  }

  /** Asks the stations of a route, as a request meets them, and back as its response does. */
  static void walk(Route route, Passage passage) {
    RouteFacts facts = passage.facts();
    passage.say(routed(route, facts, passage.request()));
    if (!facts.route().isLogged()) {
      passage.say("log", "routes[].log", "off", "the access log has no line for it");
    }
    List<Station> stations = facts.stations();
    List<RequestHead> came = new ArrayList<>();
    for (int i = 0; i < stations.size() && !passage.isOver(); i++) {
      came.add(passage.request());
      stations.get(i).judge(passage);
    }
    for (int i = came.size() - 1; i >= 0; i--) {
      passage.request(came.get(i));
      stations.get(i).judgeResponse(passage);
    }
  }

  private static boolean isLookedUp(RouteFacts facts) {
    return facts.route().isCached() && facts.bypassPath() == null;
  }

  /** Who owns what a request asks for; null if nobody does. */
  public @Nullable Ownership ownership(RequestHead request) {
    Route route = routes.find(request);
    RouteFacts facts = route == null ? null : chains.get(route);
    if (route != null) {
      request.partition(route.partition());
    }
    return facts == null || !isLookedUp(facts) || peers.isEmpty() || request.partition() != null
        ? null
        : peers.get().ownership(QueryFilter.filtered(facts.query(), request));
  }

  private static Reason routed(Route route, RouteFacts chain, RequestHead request) {
    String end = chain.route().upstream() == null ? ", which answers by " : ", to upstream ";
    return new Reason(
        "route",
        "RFC 9110 §7.4",
        request.authority() + request.path(),
        "it takes the route "
            + route.name()
            + end
            + RouteStations.targetName(chain.route())
            + (route.match().size() == 0 ? "" : "; the name of the route is a part of the key"));
  }

  Explanation noRoute(RequestHead request) {
    return routes.knowsHost(request)
        ? refused(
            StatusCode.NOT_FOUND,
            "RFC 9110 §15.5.5",
            request.path(),
            "no route is for this path: 404 (Not Found)")
        : refused(
            StatusCode.MISDIRECTED_REQUEST,
            "RFC 9110 §7.4",
            request.authority(),
            "no route is for this host: 421 (Misdirected Request)");
  }

  private static Explanation refused(int status, String section, String found, String so) {
    Reason reason = new Reason("no-route", section, found, so);
    return Explanation.of(Decision.REFUSE, null, List.of(reason), status);
  }
}
