package io.kamille.core.origin;

import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an origin is told about the client and about us.
 *
 * @param xForwarded what happens to {@code X-Forwarded-For}, {@code -Proto} and {@code -Host}
 * @param forwarded what happens to {@code Forwarded} (RFC 7239)
 * @param host the {@code Host} that origins get instead of the client's, or null for the client's
 * @param upgrades protocols that clients may ask origins to switch to, in lower case
 * @param removedFields names of request fields that never reach an origin
 */
public record ForwardingSettings(
    Mode xForwarded,
    Mode forwarded,
    @Nullable String host,
    List<String> upgrades,
    List<String> removedFields) {

  /** What may be switched to unless a route says more (RFC 6455). */
  public static final List<String> USUAL_UPGRADES = List.of("websocket");

  /** What happens to fields that tell of the client. */
  public enum Mode {
    /** They pass as the client sent them, believed or not. */
    PASS,
    /** They go no further. */
    REMOVE,
    /**
     * The address that the request came from is added to the list that came. Scheme and host are no
     * lists: they are what we saw, whatever came.
     */
    APPEND,
    /** They say what we saw and nothing else. */
    REPLACE
  }

  /*
   * Web cache poisoning (James Kettle, "Practical Web Cache Poisoning", 2018): a field that no
   * cache key covers, obeyed by an origin, lets one client choose what all others get from the
   * store. The names below are those that frameworks obey without being told to: other words for
   * scheme, host, port, path and method of the target. All of these are in the key already, as we
   * saw them. Others name the client's address, which X-Forwarded-For tells as we saw it: a client
   * could pretend to be another, to rate limits, access lists and logs too.
   */
  /** Fields that contradict target URI, method or client address, which no cache key covers. */
  public static final List<String> UNKEYED_FIELDS =
      List.of(
          """
          CF-Connecting-IP CF-Visitor Client-IP CloudFront-Forwarded-Proto Fastly-Client-IP
          Front-End-Https Request-Uri True-Client-IP X-Accel-Mapping X-ARR-SSL X-Backend-Host
          X-Client-IP X-Cluster-Client-IP X-Envoy-Original-Path X-Forwarded X-Forwarded-Context
          X-Forwarded-Host X-Forwarded-Https X-Forwarded-Method X-Forwarded-Path
          X-Forwarded-PathBase X-Forwarded-Port X-Forwarded-Prefix X-Forwarded-Protocol
          X-Forwarded-Scheme X-Forwarded-Server X-Forwarded-Ssl X-Forwarded-Uri X-Host
          X-HTTP-Host-Override X-HTTP-Method X-HTTP-Method-Override X-Invoke-Path
          X-Method-Override X-Middleware-Prefetch X-Nextjs-Data X-Now-Route-Matches
          X-Original-Host X-Original-URI X-Original-URL X-Originating-IP X-Real-IP X-Remote-Addr
          X-Remote-IP X-Rewrite-URI X-Rewrite-URL X-Scheme X-Script-Name X-Sendfile-Type
          X-Url-Scheme
          """
              .split("\\s+"));

  private static final List<String> X_FORWARDED =
      List.of("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto");

  private static final ValueType<Mode> MODE =
      ValueTypes.oneOf(
          List.of(
              Map.entry("on", Mode.REPLACE),
              Map.entry("off", Mode.PASS),
              Map.entry("append", Mode.APPEND)));

  /** The settings under {@code forwarding}; a route may say the host. */
  public static final Section<ForwardingSettings> SECTION =
      Section.of(
          ForwardingSettings.class,
          Setting.of(
                  "x-forwarded",
                  MODE,
                  "`X-Forwarded-For`, `-Proto` and `-Host` toward the origin: `on` replaces the"
                      + " client's values. `append` adds the address that the request came from to"
                      + " the list that came: choose it only with `listeners[].trusted-proxies`,"
                      + " which removes what no proxy vouches for. `off` passes the client's"
                      + " values, except fields in `forwarding.removed-fields`.")
              .defaultsTo(Mode.REPLACE),
          Setting.of(
                  "forwarded",
                  MODE,
                  "The `Forwarded` field (RFC 7239) toward the origin: `on` and `append` mean the"
                      + " same as above, `off` removes what the client sent, or passes it if"
                      + " `forwarding.x-forwarded` is `off` too.")
              .defaultsTo(Mode.PASS),
          Row.fixed(null),
          Row.fixed(USUAL_UPGRADES),
          Setting.of(
                  "removed-fields",
                  ValueTypes.fieldNames(),
                  "Request fields that never reach an origin, whatever their case, and with `_`,"
                      + " `.` or the like in place of dashes too. By default: `"
                      + String.join("`, `", UNKEYED_FIELDS)
                      + "`. They stand for host, port, scheme, path, method or client address, and"
                      + " are no part of a cache key. If an origin obeys one, any client can have"
                      + " its answer stored for all others (web cache poisoning), or pretend to be"
                      + " another. The client's address is in `X-Forwarded-For`. A list given here"
                      + " takes the place of the default; `[]` removes nothing. Take a name off the"
                      + " list only where a proxy you trust sets that field and lets no client set"
                      + " it. Fields that Kamille writes itself, such as `X-Forwarded-Host` unless"
                      + " `forwarding.x-forwarded` is `off`, are written all the same. So are those"
                      + " that `routes[].request-headers` sets and those of `routes[].auth`: the"
                      + " list is about what clients send.")
              .defaultsTo("the names listed below", values -> UNKEYED_FIELDS));

  /** For a gateway that clients come to directly: nothing they claim of themselves is passed on. */
  public static final ForwardingSettings DEFAULTS = SECTION.defaults();

  public ForwardingSettings {
    upgrades = List.copyOf(upgrades);
    removedFields = List.copyOf(removedFields);
    if (forwarded == Mode.PASS && xForwarded != Mode.PASS) {
      // Two fields that contradict each other would leave the choice to the origin, or the client.
      forwarded = Mode.REMOVE;
    }
  }

  /** The setting by which origins get a field of that name from us; null if they do not. */
  public @Nullable String writing(String name) {
    boolean isX = X_FORWARDED.stream().anyMatch(name::equalsIgnoreCase);
    Mode mode = isX ? xForwarded : forwarded;
    boolean isOurs = isX || name.equalsIgnoreCase("Forwarded");
    return isOurs && (mode == Mode.APPEND || mode == Mode.REPLACE)
        ? isX ? "x-forwarded" : "forwarded"
        : null;
  }

  /** The same with what a route says: the host that origins get, null for the client's. */
  public ForwardingSettings ofRoute(@Nullable String otherHost, List<String> otherUpgrades) {
    return new ForwardingSettings(xForwarded, forwarded, otherHost, otherUpgrades, removedFields);
  }
}
