package io.kamille.admin.api;

import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.Peer;
import io.kamille.admin.auth.Scope;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.cookie.Cookie;
import io.netty.handler.codec.http.cookie.ServerCookieDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request to the control plane. Immutable but for nobody's use of {@code fields}; any thread.
 *
 * @param path the request target without the query, as it came
 * @param query what stands behind the question mark as it came, or null without one
 * @param hosts the values of all {@code Host} lines, or the authority of an absolute-form target
 * @param fields the header section
 * @param content all of it
 * @param peer who sent it
 * @param parameters of the path, by name
 * @param identity who asks; null before that is known, and for what everybody may ask
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares requests
public record AdminRequest(
    String method,
    String path,
    @Nullable String query,
    List<String> hosts,
    HttpHeaders fields,
    byte[] content,
    Peer peer,
    Map<String, String> parameters,
    @Nullable Identity identity) {

  /** A question mark, also as JSON may write it. */
  private static final Pattern QUERY = Pattern.compile("\\?|\\\\u003[fF]");

  public AdminRequest {
    hosts = List.copyOf(hosts);
    parameters = Map.copyOf(parameters);
  }

  /** The value of a field, the first line of it. */
  public @Nullable String field(String name) {
    return fields.get(name);
  }

  /** The name of a session's cookie: cookies ignore ports (RFC 6265), so the port is in it. */
  String cookieName() {
    String host = hosts.isEmpty() ? "" : hosts.getFirst();
    int colon = host.lastIndexOf(':');
    String port = colon > host.lastIndexOf(']') ? host.substring(colon + 1) : "80";
    return "kamille-" + port.toLowerCase(Locale.ROOT);
  }

  /** What the request has for that cookie, or null. */
  @Nullable String cookie() {
    String field = field("Cookie");
    return field == null
        ? null
        : ServerCookieDecoder.STRICT.decode(field).stream()
            .filter(cookie -> cookie.name().equals(cookieName()))
            .map(Cookie::value)
            .findFirst()
            .orElse(null);
  }

  /** The content as text. */
  public String text() {
    return new String(content, StandardCharsets.UTF_8);
  }

  /** The value of a parameter of the path. */
  public String parameter(String name) {
    String value = parameters.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": no parameter of this path");
    }
    return value;
  }

  /** The method whose rules apply: a HEAD is answered as a GET, its content left out on the way. */
  String effectiveMethod() {
    return method.equals("HEAD") ? "GET" : method;
  }

  /** Whether who asks may see the queries of clients: they may hold secrets. */
  boolean showsQueries() {
    return identity != null && identity.scope().allows(Scope.OPERATE);
  }

  /** A text as who asks may see it: all of it, or what stands before the first query. */
  public String shown(String text) {
    Matcher query = QUERY.matcher(text);
    return showsQueries() || !query.find() ? text : text.substring(0, query.start()) + "?…";
  }

  /** The same request, by somebody. */
  AdminRequest by(@Nullable Identity who) {
    return new AdminRequest(method, path, query, hosts, fields, content, peer, parameters, who);
  }

  /** The same request, with the parameters of its path. */
  AdminRequest with(Map<String, String> pathParameters) {
    return new AdminRequest(
        method, path, query, hosts, fields, content, peer, pathParameters, identity);
  }
}
