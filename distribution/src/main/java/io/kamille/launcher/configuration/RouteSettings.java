package io.kamille.launcher.configuration;

import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.gate.AccessList;
import io.kamille.core.http.Octets;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteMatch;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which requests go to which upstream.
 *
 * @param host in lower case: exact, {@code *.} and a domain, or null for any
 * @param path the beginning of the target path; begins with a slash
 * @param match what else a request must have
 * @param upstream the name of an upstream that exists, or null if the route answers by itself
 * @param hostRewrite the Host field the origin sees, or null for the client's own
 * @param upgrades protocols that clients may ask its origins to switch to, in lower case
 * @param access which clients may use it
 * @param limits how much of it they may use
 * @param auth how it finds out who they are
 * @param cache how it uses the cache
 * @param isLogged whether its requests have lines in the access log
 * @param actions what it does by itself
 */
public record RouteSettings(
    @Nullable String host,
    String path,
    RouteMatch match,
    @Nullable String upstream,
    @Nullable String hostRewrite,
    List<String> upgrades,
    AccessList access,
    RouteLimits limits,
    AuthSettings auth,
    RouteCacheSettings cache,
    boolean isLogged,
    RouteActions actions) {

  static final Setting<String> HOST =
      Setting.of(
              "host",
              new ValueType<>(
                  "host",
                  "",
                  "a host such as example.org, or *.example.org in quotes",
                  RouteSettings::hostOf,
                  host -> host),
              "The host that requests must name, without port. `example.org` is that host alone;"
                  + " `\"*.example.org\"` is every name below it. Quote the latter: YAML reads a"
                  + " bare `*` as an alias. An exact host wins over a wildcard, a longer wildcard"
                  + " over a shorter one.")
          .orElse("any host");

  static final Setting<String> PATH_PREFIX =
      Setting.of(
              "path",
              ValueTypes.text(
                  "path",
                  "a path that begins with / and has no ?, #, *, space, //, /./, /../ or encoded"
                      + " letter; what lies below is meant, too",
                  text -> Route.isPathPrefix(text) && text.indexOf('*') < 0),
              "The prefix of the target path, in whole segments: `/api` matches `/api` and"
                  + " `/api/users`, never `/apis`; `/api/` only what lies below. Among routes for"
                  + " the same host the longest path wins; when none matches, less specific hosts"
                  + " are asked. Paths are compared without empty segments (`//`) and dot segments"
                  + " (`/./`, `/../`), and with encoded letters (`%61`) decoded. Origin and cache"
                  + " key get the path as it came.")
          .defaultsTo("/");

  static final Subsection<RouteMatch> MATCH =
      RouteMatch.SECTION.one(
          "match",
          "Conditions that a request must meet, too. Among routes for the same host and path, the one with most"
              + " conditions that are met wins, then the first by name. The cache key of such a"
              + " route holds its name, so it shares no stored response with another one.");

  static final Setting<String> UPSTREAM =
      Setting.of(
              "upstream",
              ValueTypes.upstream(),
              "The upstream that requests are forwarded to. `welcome`, if no upstream has that"
                  + " name, stands for a page of Kamille's own that says how to go on after"
                  + " installing. A route has one of `upstream`, `root`, `redirect` and `respond`.")
          .orElse("the route answers by itself");

  /** The name that stands for a page of our own. */
  static final String WELCOME = "welcome";

  static final Setting<String> HOST_REWRITE =
      Setting.of("host-rewrite", ValueTypes.authority(), "The `Host` field that the origin sees.")
          .orElse("what the client sent");

  static final Setting<List<String>> UPGRADES =
      Setting.of(
              "upgrades",
              ValueTypes.list(
                  "list of protocols",
                  RouteSettings::isUpgrade,
                  "a protocol in lower case such as websocket; not h2c"),
              "The protocols that clients may ask the origin to switch to (`Upgrade`, RFC 9110"
                  + " §7.8). Kamille forwards other requests without `Upgrade`, and tunnels"
                  + " nothing. `[]` allows none.")
          .defaultsTo(ForwardingSettings.USUAL_UPGRADES);

  private static boolean isUpgrade(String text) {
    return Octets.isToken(text.replace("/", ""))
        && text.equals(text.toLowerCase(Locale.ROOT))
        && !text.startsWith("h2c");
  }

  public static final Subsection<RouteCacheSettings> CACHE =
      RouteCacheSettings.SECTION
          .one(
              "cache",
              "How this route uses the cache. `cache: off` is short for `cache: {enabled: off}`.")
          .withShorthand(RouteCacheSettings.ENABLED);

  public static final Subsection<AuthSettings> AUTH =
      AuthSettings.SECTION.one(
          "auth",
          "How the route finds out who its clients are: one of `basic`, `forward` and `jwt`. The"
              + " check comes before the cache. Its requests count as ones with `Authorization`"
              + " (RFC 9111 §3.5).");

  static final Section<RouteSettings> SECTION =
      Section.of(
          RouteSettings.class,
          HOST,
          PATH_PREFIX,
          MATCH,
          UPSTREAM,
          HOST_REWRITE,
          UPGRADES,
          AccessList.SECTION.one(
              "access",
              "Which clients may use the route. The request of another is answered with 403; the"
                  + " method `PURGE` goes by `cache.purge-from` alone."),
          RouteLimits.SECTION.inlined(),
          AUTH,
          CACHE,
          Setting.of(
                  "log",
                  ValueTypes.onOff(),
                  "Whether its requests have lines in the access log. `off` leaves out failures,"
                      + " too.")
              .defaultsTo(true),
          RouteActions.SECTION.inlined());

  /** Whether its responses may be stored: those of files and of its own are at hand anyway. */
  public boolean isCached() {
    return upstream != null && cache.isEnabled();
  }

  private static @Nullable String hostOf(String text) {
    String host = text.toLowerCase(Locale.ROOT);
    String name = host.startsWith("*.") ? host.substring(2) : host;
    return name.isEmpty() || HostPort.hostOf(name) == null ? null : host;
  }
}
