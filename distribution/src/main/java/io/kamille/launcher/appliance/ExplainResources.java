package io.kamille.launcher.appliance;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.admin.auth.Scope;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.Authority;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.launcher.chain.RouteExplainer;
import io.kamille.launcher.chain.RouteExplainer.MatchedRoute;
import io.kamille.launcher.chain.RouteExplainer.RequestExplanation;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code /v1/explain}: what would become of a request. Nothing is sent or stored. */
record ExplainResources(RouteSet routes, ClientSide clientSide) {

  /** Methods of requests that come to no route. */
  private static final Set<String> UNROUTED = Set.of("CONNECT", "TRACE");

  List<Operation> operations() {
    return List.of(
        Operation.get("/v1/explain", Scope.READ, "The decisions on a request, and their reasons.")
            .must("url", "The URL.")
            .may("method", "GET unless it is there.")
            .may("field", "A field line; may be there several times.")
            .may("client", "The address of the client, or of the proxy that sends its request.")
            .answers(Explained.class)
            .by((_, query) -> explain(query)));
  }

  private Answer explain(Query query) throws InvalidRequest {
    String url = query.url();
    RequestHead head = head(method(query.optional("method")), url, query.all("field"));
    RequestExplanation explained = explained(head, client(query.optional("client")));
    Explanation explanation = explained.explanation();
    ForwardReason forward = explanation.forward();
    return Answer.json(
        new Explained(
            head.methodText(),
            url,
            explained.route(),
            explanation.key(),
            explanation.decision().token(),
            forward == null ? null : forward.token(),
            explanation.because()));
  }

  private RequestExplanation explained(RequestHead request, @Nullable InetAddress client) {
    List<Reason> first = new ArrayList<>();
    InetAddress asking =
        client == null
            ? null
            : RouteExplainer.named(clientSide.listeners(), request, client, first);
    RequestExplanation explained = routes.explainer().explain(request, asking);
    String host = Authority.hostOf(request.authority()).toLowerCase(Locale.ROOT);
    Reason shown = request.isSecure() ? clientSide.tls().explain(host) : null;
    if (shown != null) {
      first.add(shown);
    }
    return first.isEmpty()
        ? explained
        : new RequestExplanation(explained.route(), explained.explanation().after(first));
  }

  private record Explained(
      String method,
      String url,
      @Nullable MatchedRoute route,
      @Nullable String key,
      String decision,
      @Nullable String fwd,
      List<Reason> because) {}

  private static String method(@Nullable String given) throws InvalidRequest {
    String method = given == null ? "GET" : given;
    if (!Octets.isToken(method) || UNROUTED.contains(method)) {
      throw new InvalidRequest("method must be a token other than CONNECT and TRACE.");
    }
    return method;
  }

  private static @Nullable InetAddress client(@Nullable String given) throws InvalidRequest {
    if (given == null) {
      return null;
    }
    if (given.indexOf('/') >= 0 || AddressRange.parse(given) == null) {
      throw new InvalidRequest("client must be an IP address.");
    }
    return InetAddress.ofLiteral(given);
  }

  private static RequestHead head(String method, String url, List<String> fields)
      throws InvalidRequest {
    RequestHead head = RequestHead.of(method, withPath(url));
    for (String field : fields) {
      int colon = field.indexOf(':');
      String name = colon < 0 ? "" : field.substring(0, colon);
      if (!Octets.isToken(name) || !isValue(field.substring(colon + 1))) {
        throw new InvalidRequest("field must be a field line such as Accept: text/html.");
      }
      if (name.equalsIgnoreCase("Host")) {
        throw new InvalidRequest("field must not be Host: it comes from url.");
      }
      head.fields().add(name, field.substring(colon + 1).strip());
    }
    return head;
  }

  /** The URL with its scheme in lower case and a path behind its authority. */
  private static String withPath(String url) {
    int authority = url.indexOf("://") + "://".length();
    int end = authority;
    while (end < url.length() && url.charAt(end) != '/' && url.charAt(end) != '?') {
      end++;
    }
    String target = url.substring(end);
    return url.substring(0, authority).toLowerCase(Locale.ROOT)
        + url.substring(authority, end)
        + (target.startsWith("/") ? target : "/" + target);
  }

  /** Whether these octets can be a field value (RFC 9110 §5.5). */
  private static boolean isValue(String text) {
    return text.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 0x7f));
  }
}
