package io.kamille.cache.settings;

import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.rules.VaryBy;
import io.kamille.core.route.Route;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How one route uses the cache.
 *
 * @param isEnabled whether responses may be stored and reused
 * @param compresses whether responses are compressed, stored ones and others on their way
 * @param ttlSeconds how long responses that are no errors may be reused, whatever the origin says;
 *     {@link CacheControl#ABSENT} when it is the origin that says so
 * @param statusTtl how long responses without freshness information may be reused, by status code
 *     ({@code 404}) or class ({@code 5xx})
 * @param defaultTtlSeconds how long other responses without freshness information may be reused;
 *     {@link CacheControl#ABSENT} when only a heuristic may say so
 * @param fillsRanges whether the whole is fetched when a client asks for a range of what is not
 *     stored
 * @param bypassCookies requests with one of these cookies pass the cache by; a star at the end
 *     stands for anything
 * @param bypassPaths so do those for what lies below one of these paths, which lie below the
 *     route's
 * @param varyBy by what responses are told apart besides the fields of {@code Vary}, as {@link
 *     VaryBy} reads it
 */
public record RouteCacheSettings(
    boolean isEnabled,
    boolean compresses,
    int ttlSeconds,
    Map<String, StatusTtl> statusTtl,
    int defaultTtlSeconds,
    StaleLimits stale,
    boolean fillsRanges,
    List<String> bypassCookies,
    List<String> bypassPaths,
    List<String> varyBy,
    Query query) {

  private static final Pattern PARAMETER = Pattern.compile("[^\\p{Cntrl} ,&=#%*]{1,128}\\*?");
  private static final Pattern COOKIE = Pattern.compile("[A-Za-z0-9!#$%&'+.^_`|~-]{1,128}\\*?");
  private static final Duration YEAR = Duration.ofDays(365);

  /** How long responses with one status code may be reused. */
  public record StatusTtl(int ttlSeconds) {}

  /**
   * Which query parameters are part of the cache key and forwarded; a star at the end of a name
   * stands for anything.
   *
   * @param keep those alone, or null for all but {@code ignore}
   * @param sorts whether they are brought into the order of their names
   */
  public record Query(@Nullable List<String> keep, List<String> ignore, boolean sorts) {

    private QueryRules rules() {
      return new QueryRules(NamePatterns.of(keep == null ? ignore : keep), keep != null, sorts);
    }
  }

  /** Only a comma with a blank separates: one without is part of a list of languages. */
  public static final ValueType<List<String>> VARY_BY =
      new ValueType<>(
          "list of fields, cookies and normal forms",
          "",
          "the name of a request field, but not Forwarded or X-Forwarded-For; cookie:NAME;"
              + " \"language:TAG,TAG\" with two tags or more and no blank; images; or device",
          true,
          text -> {
            List<String> members = text.isEmpty() ? List.of() : List.of(text.split(", ", -1));
            return members.stream().allMatch(VaryBy::isPossible) ? members : null;
          },
          members -> String.join(", ", members));

  private static final Setting<Integer> STATUS_LIFETIME =
      Setting.of(
          "ttl",
          seconds(0),
          "How long such a response may be reused; `0s` is not at all, unless the origin confirms"
              + " it.");

  public static final Setting<List<String>> KEEP =
      Setting.of(
              "keep",
              parameters(),
              "The query parameters that count: all others are ignored. `[]` ignores every query."
                  + " Not together with `ignore`.")
          .orElse("all but those of `ignore`");

  public static final Setting<List<String>> IGNORE =
      Setting.of(
              "ignore",
              parameters(),
              "Query parameters that do not count, such as `[utm_*, fbclid]`. Not together with"
                  + " `keep`.")
          .defaultsTo("none", query -> List.of());

  private static final Section<Query> QUERY_SECTION =
      Section.of(
              Query.class,
              KEEP,
              IGNORE,
              Setting.of(
                      "sort",
                      ValueTypes.onOff(),
                      "Whether query parameters are brought into the order of their names, so that"
                          + " `?a=1&b=2` and `?b=2&a=1` are one. Parameters of one name keep their"
                          + " order, as do queries of more than 64 parameters. The origin must not"
                          + " care.")
                  .defaultsTo(false))
          .checkedBy(
              (query, problems) -> {
                if (query.isGiven(KEEP) && query.isGiven(IGNORE)) {
                  problems.conflict(
                      query, IGNORE, "nothing, where keep says which parameters count");
                }
              });

  private static final Section<StaleLimits> STALE =
      Section.of(
          StaleLimits.class,
          Setting.of(
                  "stale-while-revalidate",
                  seconds(0),
                  "How long a stale response answers while the origin is asked in the background"
                      + " (RFC 5861 §3), where the response does not say. It does not hold for"
                      + " responses that were never fresh, nor for those with `no-cache`,"
                      + " `must-revalidate`, `proxy-revalidate` or `s-maxage`, which RFC 9111"
                      + " §4.2.4 protects.")
              .defaultsTo(0)
              .into("whileRevalidateSeconds"),
          Setting.of(
                  "stale-if-error",
                  seconds(0),
                  "How long a stale response answers in place of 500, 502, 503, 504 or no answer"
                      + " (RFC 5861 §4). The response's own `stale-if-error` wins. The same"
                      + " responses are left out.")
              .defaultsTo(0)
              .into("ifErrorSeconds"),
          Setting.of(
                  "max-stale",
                  seconds(0),
                  "The longest a response is used after it became stale, whatever it says itself"
                      + " (`stale-while-revalidate`, `stale-if-error`) and whatever a request"
                      + " allows (`max-stale`, `stale-if-error`). `0s` uses nothing stale.")
              .orElse("no limit beyond those", Integer.MAX_VALUE)
              .into("maxSeconds"),
          Setting.of(
                  "stale-after",
                  ValueTypes.orWord("off", Duration.ZERO, ValueTypes.timeout()),
                  "How long the origin may take for a response head before a response answers that"
                      + " `stale-if-error` allows. The origin's answer is still awaited, and stored"
                      + " for those who come later. `off` waits for `head-timeout` of the"
                      + " upstream.")
              .defaultsTo(Duration.ofSeconds(3))
              .into("after"));

  public static final Subsection<StatusTtl> STATUS_TTL =
      Section.of(StatusTtl.class, STATUS_LIFETIME)
          .named(
              "status-ttl",
              "How long responses without freshness information may be reused, by status code"
                  + " (`404: 30s`) or class (`5xx: 1s`). A code wins over its class. `404: 30s` is"
                  + " short for `404: {ttl: 30s}`. It lets responses be stored that RFC 9111 §3"
                  + " does not without a word of the origin's, such as 302 and 503. The origin's"
                  + " word on lifetime and storing wins, as do all other rules. A class leaves out"
                  + " codes that depend on the one request: 400, 402, 403, 406, 408, 411, 413, 415,"
                  + " 421, 422, 425, 426, 428, 429, 431, 511. Name them to include them. 206, 304,"
                  + " 401, 407, 412, 416 and 417 cannot be named.")
          .withShorthand(STATUS_LIFETIME);

  public static final Setting<List<String>> BYPASS_PATHS =
      Setting.of(
              "bypass-paths",
              ValueTypes.list(
                  "list of paths",
                  text ->
                      Route.isPathPrefix(text) && text.indexOf(',') < 0 && text.indexOf('*') < 0,
                  "a path that begins with / and has no ?, #, *, comma, space, //, /./, /../ or"
                      + " encoded letter; what lies below is meant, too"),
              "Requests for what lies below one of these paths pass the cache by in the same way."
                  + " Paths are matched as those of routes are, and lie below the route's own; a"
                  + " more specific route is not touched.")
          .defaultsTo("none", cache -> List.of());

  public static final Subsection<Query> QUERY =
      QUERY_SECTION.one(
          "query",
          "Which query parameters of requests that may be cached count. Ignored parameters are"
              + " neither part of the cache key nor forwarded; sorted ones are forwarded sorted."
              + " Otherwise the origin could answer by a value that the key does not cover, which"
              + " poisons the cache. Names are compared percent-decoded, upper and lower case"
              + " differ, and a `*` at the end stands for anything. Empty parameters (`a=1&&b=2`)"
              + " are ignored where any of this is set. The access log tells the query as it"
              + " came.");

  /** What a bare value stands for. */
  public static final Setting<Boolean> ENABLED =
      Setting.of(
              "enabled",
              ValueTypes.onOff(),
              "Whether responses may be stored and reused. Off, every request is forwarded.")
          .defaultsTo(true);

  public static final Section<RouteCacheSettings> SECTION =
      Section.of(
          RouteCacheSettings.class,
          ENABLED,
          Setting.of(
                  "compress",
                  ValueTypes.onOff(),
                  "Whether stored responses of the types in `cache.compression` are compressed,"
                      + " once, and sent in the content coding that a request likes best (RFC 9110"
                      + " §12.5.3). The origin is then asked for content without coding"
                      + " (`Accept-Encoding: identity`) whenever its answer may be stored, and"
                      + " answers say `Vary: Accept-Encoding`. `no-transform` is respected."
                      + " Responses that are not stored are compressed on their way, except those"
                      + " with `Set-Cookie`.")
              .defaultsTo(false),
          Setting.of(
                  "ttl",
                  seconds(1),
                  "How long a response may be reused, instead of what its `s-maxage`, `max-age` or"
                      + " `Expires` says. It holds for responses with a status code below 400 that"
                      + " RFC 9111 lets a shared cache store, and changes nothing about which those"
                      + " are: `no-store`, `private`, `Set-Cookie` and requests with"
                      + " `Authorization` keep their meaning, and what says `no-cache` is validated"
                      + " each time. `Age` counts as always. The client sees the origin's own"
                      + " fields.")
              .orElse("the origin says so", CacheControl.ABSENT),
          STATUS_TTL,
          Setting.of(
                  "default-ttl",
                  seconds(0),
                  "How long a response without freshness information may be reused; `0s` is not at"
                      + " all, unless the origin confirms it. It never overrides what the origin"
                      + " says, nor `status-ttl`.")
              .orElse(
                  "a tenth of the time since `Last-Modified`, at most a day (RFC 9111 §4.2.2)",
                  CacheControl.ABSENT),
          STALE.inlined(),
          Setting.of(
                  "fill-ranges",
                  ValueTypes.onOff(),
                  "Whether a range of a response that is not stored has the whole response fetched"
                      + " too. Later ranges are then hits. It costs the origin the whole once, even"
                      + " if nobody asks for more. Kamille fetches 256 in the background at a time,"
                      + " and none for a second after one that came to nothing.")
              .defaultsTo(false)
              .into("fillsRanges"),
          Setting.of(
                  "bypass-cookies",
                  ValueTypes.list(
                      "list of cookie names",
                      text -> COOKIE.matcher(text).matches(),
                      "the name of a cookie, with a * at its end for all names that begin so"),
                  "Requests with one of these cookies bypass the cache. They get no stored"
                      + " response, store none, and do not wait for one another. A `*` at the end"
                      + " stands for anything (`wordpress_logged_in_*`); case does not"
                      + " count.")
              .defaultsTo("none", cache -> List.of()),
          BYPASS_PATHS,
          Setting.of(
                  "vary-by",
                  VARY_BY,
                  "By what responses are told apart, as if the origin named it in `Vary`: names of"
                      + " request fields, `cookie:NAME` for one cookie, `\"language:de,en\"` for"
                      + " the best of some languages, `images` for AVIF, WebP or other, `device`"
                      + " for mobile or other. The `Vary` that clients get names the fields. Of one"
                      + " target URI at most `cache.variants` responses are stored.")
              .defaultsTo("none", cache -> List.of()),
          QUERY);

  private static ValueType<List<String>> parameters() {
    return ValueTypes.list(
        "list of parameter names",
        text -> PARAMETER.matcher(text).matches(),
        "the name of a query parameter, decoded, with a * at its end for all names that begin so");
  }

  private static ValueType<Integer> seconds(long least) {
    return ValueTypes.seconds(Duration.ofSeconds(least), YEAR);
  }

  StatusLifetimes statusLifetimes() {
    return new StatusLifetimes(
        statusTtl.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, status -> status.getValue().ttlSeconds)));
  }

  VaryBy selecting() {
    return new VaryBy(varyBy);
  }

  QueryRules queryRules() {
    return query.rules();
  }

  NamePatterns bypassing() {
    return NamePatterns.of(bypassCookies);
  }
}
