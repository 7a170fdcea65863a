package io.kamille.launcher.appliance;

import io.kamille.admin.view.ApplianceView.MatchedRoute;
import io.kamille.admin.view.ApplianceView.RequestExplanation;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.station.CacheBypass;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.peer.Peers.Ownership;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.gate.ForwardedReader;
import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.gate.RateLimitSettings.Counts;
import io.kamille.core.gate.TrustedProxies;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.appliance.RouteChain.Station;
import io.kamille.launcher.configuration.RouteLimits;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Explains what becomes of requests under one configuration. Immutable; any thread.
 *
 * @param routes that requests are routed by
 * @param chains the stations of each route
 * @param purgeMethod what comes before all routes; null if nothing does
 * @param peers the other nodes, if they are asked
 */
record RouteExplainer(
    RouteTable routes,
    Map<Route, ? extends ExplainedRoute> chains,
    @Nullable PurgeMethod purgeMethod,
    Optional<Peers> peers) {

  private static final int NO_RANGE = -1;

  /** For these, the origin is asked before anything is answered. */
  private static final Set<Decision> ONWARD =
      Set.of(Decision.FORWARD, Decision.VALIDATE, Decision.PASS);

  /** What a prefix of an IPv4 address has in front, as that of a mapped IPv6 address. */
  private static final int MAPPED_BITS = 96;

  RouteExplainer {
    chains = Map.copyOf(chains);
  }

  /** Whose request it is that comes from {@code peer}, at the first listener that trusts it. */
  static InetAddress named(
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
  RequestExplanation explain(RequestHead request, @Nullable InetAddress client) {
    Route route = routes.find(request);
    if (route == null) {
      Explanation purge = purgeMethod == null ? null : purgeMethod.explain(request);
      return purge != null
          ? new RequestExplanation(null, purge)
          : new RequestExplanation(null, decided(Decision.REFUSE, noRoute(request)));
    }
    request.partition(route.partition());
    ExplainedRoute chain = Objects.requireNonNull(chains.get(route));
    MatchedRoute matched =
        new MatchedRoute(
            route.name(),
            route.host(),
            chain.route().path(),
            RouteChain.targetName(chain.route()),
            isLookedUp(chain));
    return new RequestExplanation(matched, along(route, chain, request, client));
  }

  private static boolean isLookedUp(ExplainedRoute chain) {
    return chain.route().isCached() && !chain.isPastCache();
  }

  /** Who owns what a request asks for; null if nobody does. */
  @Nullable Ownership ownership(RequestHead request) {
    Route route = routes.find(request);
    ExplainedRoute chain = route == null ? null : chains.get(route);
    if (route != null) {
      request.partition(route.partition());
    }
    return chain == null || !isLookedUp(chain) || peers.isEmpty() || request.partition() != null
        ? null
        : peers.get().ownership(QueryFilter.filtered(chain.query(), request));
  }

  /** The stations that may decide, asked as a request meets them. */
  private Explanation along(
      Route route, ExplainedRoute chain, RequestHead request, @Nullable InetAddress client) {
    List<Reason> steps = new ArrayList<>();
    RequestHead asked = request;
    steps.add(routed(route, chain, request));
    Explanation purge = purgeMethod == null ? null : purgeMethod.explain(request);
    if (purge != null) {
      return purge.after(steps);
    }
    if (!chain.route().isLogged()) {
      steps.add(new Reason("log", "routes[].log", "off", "the access log has no line for it"));
    }
    for (Station station : RouteChain.stations(chain.route())) {
      if (station == Station.ACCESS) {
        AccessList list = chain.route().access();
        steps.add(entry(list, client));
        if (client != null && !list.admits(client)) {
          return new Explanation(Decision.REFUSE, null, null, steps);
        }
      } else if (station == Station.RATE_LIMIT) {
        RouteLimits limits = chain.route().limits();
        steps.add(rates(chain.route().isCached() ? limits.rates(Counts.ALL) : limits.rates()));
      } else if (station == Station.CONTENT_LIMIT) {
        long limit = chain.route().limits().requestContent();
        String length = request.fields().first(FieldName.CONTENT_LENGTH);
        boolean isOver = length != null && octets(length) > limit;
        steps.add(
            new Reason(
                "request-content",
                "routes[].request-content",
                ByteSize.print(limit) + (length == null ? "" : "; Content-Length: " + length),
                isOver
                    ? "it has more content: 413 (Content Too Large)"
                    : "a request with more content gets 413"));
        if (isOver) {
          return new Explanation(Decision.REFUSE, null, null, steps);
        }
      } else if (station == Station.AUTH) {
        AuthSettings auth = chain.route().auth();
        boolean isAsked = auth.forward().upstream() != null;
        boolean mayPass = isAsked || asked.fields().has(FieldName.AUTHORIZATION);
        String so =
            mayPass
                ? "what follows is for a request that it lets pass"
                : "no Authorization: 401 (Unauthorized)";
        steps.add(new Reason("auth", "routes[].auth", RouteChain.authName(auth), so));
        if (!mayPass) {
          return new Explanation(Decision.REFUSE, null, null, steps);
        }
        asked = request.copy();
        asked.authenticated();
      } else if (station == Station.REDIRECTS) {
        RedirectTable moved = chain.moved();
        ResponseHead head = moved == null ? null : moved.answer(request);
        if (head != null) {
          String to = head.status() + " to " + head.fields().first(FieldName.LOCATION);
          steps.add(new Reason("redirect", "routes[].redirects-file", request.path(), to));
          return new Explanation(Decision.ANSWER, null, null, steps);
        }
      } else if (station == Station.SPLIT) {
        SplitSettings split = chain.route().actions().split();
        boolean isOther = client != null && split.takes(asked, client);
        steps.add(split(split, client, isOther));
        if (isOther) {
          return new Explanation(Decision.PASS, null, null, steps);
        }
      } else if (station == Station.CACHE) {
        Explanation decided = cached(route, chain, asked);
        return onward(owned(decided, chain, asked), chain, asked).after(steps);
      }
    }
    return onward(uncached(chain), chain, asked).after(steps);
  }

  private static Reason routed(Route route, ExplainedRoute chain, RequestHead request) {
    String end = chain.route().upstream() == null ? ", which answers by " : ", to upstream ";
    return new Reason(
        "route",
        "RFC 9110 §7.4",
        request.authority() + request.path(),
        "it takes the route "
            + route.name()
            + end
            + RouteChain.targetName(chain.route())
            + (route.match().size() == 0 ? "" : "; the name of the route is a part of the key"));
  }

  private static Reason rates(List<RateLimitSettings> rates) {
    return new Reason(
        "rate-limit",
        "routes[].rate-limit",
        rates.stream().map(RateLimitSettings::describe).collect(Collectors.joining("; ")),
        "a request over a rate gets 429");
  }

  /** Whether the content of the request waits. */
  private static void waiting(ExplainedRoute chain, RequestHead request, List<Reason> steps) {
    PoolSettings pool = chain.pool();
    String length = request.fields().first(FieldName.CONTENT_LENGTH);
    boolean hasContent = length != null || request.fields().has(FieldName.TRANSFER_ENCODING);
    if (pool == null || !hasContent) {
      return;
    }
    long octets = length == null ? RequestContent.UNKNOWN_LENGTH : octets(length);
    String memory = ByteSize.print(pool.uploadBufferBytes());
    steps.add(
        new Reason(
            "upload-buffer",
            "upstreams.*.upload-buffer",
            length == null ? "content of unknown length" : "Content-Length: " + length,
            pool.takesIn(request.fields(), octets, chain.fileBytes())
                ? "its content comes in before it takes a connection: "
                    + memory
                    + " in memory, then "
                    + ByteSize.print(chain.fileBytes())
                    + " in a file"
                : "it takes a connection at once, and its content goes on as it comes"));
  }

  /** With what is asked, and what waits, on the way to the origin. */
  private static Explanation onward(
      Explanation decided, ExplainedRoute chain, RequestHead request) {
    RouteLimits limits = chain.route().limits();
    PoolSettings pool = chain.pool();
    if (!ONWARD.contains(decided.decision())) {
      return decided;
    }
    List<Reason> because = new ArrayList<>(decided.because());
    List<RateLimitSettings> rates = limits.rates(Counts.FORWARDED);
    if (chain.route().isCached() && !rates.isEmpty()) {
      because.add(rates(rates));
    }
    waiting(chain, request, because);
    String so = "a response head that comes later is answered with 504";
    timeout("head-timeout", limits.headTimeout(), so, because);
    timeout("content-timeout", limits.contentTimeout(), "a longer pause ends it", because);
    if (pool != null && pool.responseBufferBytes() > 0 && decided.decision() == Decision.PASS) {
      because.add(
          new Reason(
              "response-buffer",
              "upstreams.*.response-buffer",
              ByteSize.print(pool.responseBufferBytes()),
              "a client that reads slowly keeps no connection busy with a response up to that"));
    }
    return new Explanation(decided.decision(), decided.forward(), decided.key(), because);
  }

  private static void timeout(
      String setting, @Nullable Duration limit, String so, List<Reason> because) {
    if (limit != null) {
      because.add(new Reason(setting, "routes[]." + setting, TimeSpan.print(limit), so));
    }
  }

  private static long octets(String length) {
    try {
      return Long.parseLong(length);
    } catch (NumberFormatException tooLong) {
      return Long.MAX_VALUE;
    }
  }

  private static Reason entry(AccessList list, @Nullable InetAddress client) {
    if (client == null) {
      return new Reason(
          "access",
          "routes[].access",
          "no client given",
          "a client that the route is not for gets 403 (Forbidden): give one to know");
    }
    String found =
        NetUtil.toAddressString(client)
            + ": allow "
            + found(list.allow(), client)
            + ", deny "
            + found(list.deny(), client);
    return new Reason(
        "access",
        "routes[].access",
        found,
        list.admits(client)
            ? "the route is for this client"
            : "the route is not for this client: 403 (Forbidden)");
  }

  private static Reason split(SplitSettings split, @Nullable InetAddress client, boolean isOther) {
    String usual = "the route's own upstream gets it";
    return new Reason(
        "split",
        "routes[].split",
        "key " + split.key() + ", share " + split.share(),
        isOther
            ? "upstream " + split.upstream() + " gets it, past the cache"
            : client == null ? usual + ", or the other one: give a client to know" : usual);
  }

  /** The smallest range with that client, by its prefix. */
  private static String found(AddressRanges ranges, InetAddress client) {
    if (ranges.isEmpty()) {
      return "is empty";
    }
    int prefix = ranges.longestPrefix(client);
    if (prefix == NO_RANGE) {
      return "has no range with it";
    }
    return "has a range /" + (client instanceof Inet4Address ? prefix - MAPPED_BITS : prefix);
  }

  /** With the node that a miss would ask. */
  private Explanation owned(Explanation decided, ExplainedRoute chain, RequestHead request) {
    boolean isAsked = decided.decision() != Decision.PASS && ONWARD.contains(decided.decision());
    if (peers.isEmpty() || !isLookedUp(chain) || !isAsked || request.partition() != null) {
      return decided;
    }
    List<Reason> because = new ArrayList<>(decided.because());
    because.add(peers.get().explain(QueryFilter.filtered(chain.query(), request)));
    return new Explanation(decided.decision(), decided.forward(), decided.key(), because);
  }

  private static Explanation cached(Route route, ExplainedRoute chain, RequestHead request) {
    if (!chain.isPastCache()) {
      return chain.lookUp(request);
    }
    Reason bypassed =
        new Reason(
            "path",
            "RFC 9111 §2",
            "routes[].cache.bypass-paths: " + route.pathPrefix(),
            "it is forwarded, and nothing is stored");
    return new Explanation(Decision.PASS, CacheBypass.reason(request), null, List.of(bypassed));
  }

  private static Explanation uncached(ExplainedRoute chain) {
    return chain.route().upstream() == null
        ? decided(
            Decision.ANSWER,
            new Reason(
                "own-answer",
                "RFC 9110 §3.6",
                "routes[]." + RouteChain.targetName(chain.route()),
                "Kamille answers, and asks no origin"))
        : decided(
            Decision.PASS,
            new Reason(
                "cache-off",
                "RFC 9111 §2",
                "routes[].cache.enabled: off",
                "it is forwarded, and nothing is stored"));
  }

  private Reason noRoute(RequestHead request) {
    return routes.knowsHost(request)
        ? new Reason(
            "no-route",
            "RFC 9110 §15.5.5",
            request.path(),
            "no route is for this path: 404 (Not Found)")
        : new Reason(
            "no-route",
            "RFC 9110 §7.4",
            request.authority(),
            "no route is for this host: 421 (Misdirected Request)");
  }

  private static Explanation decided(Decision decision, Reason... steps) {
    return new Explanation(decision, null, null, List.of(steps));
  }
}
