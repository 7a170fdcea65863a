package io.kamille.launcher.configuration;

import io.kamille.core.route.Route;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which requests go to which upstream.
 *
 * @param host in lower case: exact, {@code *.} and a domain, or null for any
 * @param path the beginning of the target path; begins with a slash
 * @param upstream the name of an upstream that exists
 * @param hostRewrite the Host field the origin sees, or null for the client's own
 * @param access which clients may use it
 * @param rateLimit how often each of them may, if not as often as it likes
 * @param cache how it uses the cache
 */
public record RouteSettings(
    @Nullable String host,
    String path,
    String upstream,
    @Nullable String hostRewrite,
    AccessSettings access,
    Optional<RateLimitSettings> rateLimit,
    RouteCacheSettings cache) {

  private static final Pattern PATH = Pattern.compile("/[!-~&&[^?#]]{0,1023}");

  static final Setting<String> HOST =
      Setting.of(
              "routes[].host",
              ValueType.of(
                  "host",
                  "",
                  "a host such as example.org, or *.example.org in quotes",
                  RouteSettings::hostOf,
                  host -> host),
              "The host that requests must name, without port: exact (`example.org`) or every name"
                  + " below a domain (`\"*.example.org\"`, not `example.org` itself; in quotes because"
                  + " YAML reads a bare `*` as an alias). An exact host wins over a wildcard, a longer"
                  + " wildcard over a shorter one.")
          .orElse("any host");

  static final Setting<String> PATH_PREFIX =
      Setting.of(
              "routes[].path",
              ValueType.of(
                  "path",
                  "",
                  "a path that begins with / and has no ?, #, space, //, /./, /../ or encoded"
                      + " letter",
                  text -> isPath(text) ? text : null,
                  path -> path),
              "What the target path must begin with, in whole segments: `/api` matches `/api` and"
                  + " `/api/users`, never `/apis`; `/api/` only what lies below. Among routes for the"
                  + " same host the longest path wins; when none matches, less specific hosts are"
                  + " asked. Paths are compared without their empty segments (`//`), without dot"
                  + " segments (`/./`, `/../`) and with encoded letters decoded (`%61`); the origin"
                  + " gets, and the cache goes by, the path as it came.")
          .defaultsTo("/");

  static final Setting<String> UPSTREAM =
      Setting.of(
          "routes[].upstream",
          ValueType.of(
              "name of an upstream",
              "",
              "the name of an upstream",
              text -> text.isEmpty() ? null : text,
              name -> name),
          "The upstream that requests are forwarded to.");

  static final Setting<String> HOST_REWRITE =
      Setting.of(
              "routes[].host-rewrite",
              ValueType.of(
                  "host with or without port",
                  "",
                  "HOST[:PORT]",
                  text -> isAuthority(text) ? text : null,
                  authority -> authority),
              "The `Host` field that the origin sees.")
          .orElse("what the client sent");

  static final Section SECTION =
      Section.list(
              "routes",
              "Which requests go to which upstream. The most specific route wins, wherever it stands"
                  + " in the list: first by host, then by path.",
              HOST,
              PATH_PREFIX,
              UPSTREAM,
              HOST_REWRITE,
              AccessSettings.OF_ROUTE.section(),
              RateLimitSettings.SECTION,
              RouteCacheSettings.SECTION)
          .atLeastOne("at least one route");

  static RouteSettings of(SectionValues values) {
    return new RouteSettings(
        values.find(HOST),
        values.value(PATH_PREFIX),
        values.value(UPSTREAM),
        values.find(HOST_REWRITE),
        AccessSettings.OF_ROUTE.of(values),
        RateLimitSettings.of(values.one(RateLimitSettings.SECTION)),
        RouteCacheSettings.of(values.one(RouteCacheSettings.SECTION)));
  }

  static boolean isPath(String text) {
    return PATH.matcher(text).matches() && Route.isPathPrefix(text);
  }

  private static @Nullable String hostOf(String text) {
    String host = text.toLowerCase(Locale.ROOT);
    String name = host.startsWith("*.") ? host.substring(2) : host;
    return name.isEmpty() || HostPort.hostOf(name) == null ? null : host;
  }

  private static boolean isAuthority(String text) {
    HostPort withPort = HostPort.parse(text);
    return withPort != null
        ? !withPort.host().isEmpty()
        : !text.isEmpty() && HostPort.hostOf(text) != null;
  }
}
