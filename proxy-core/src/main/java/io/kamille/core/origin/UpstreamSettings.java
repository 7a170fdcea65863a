package io.kamille.core.origin;

import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.tls.OriginTlsSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How an upstream treats its origins.
 *
 * @param choice how the origin of a request is picked
 * @param connectTimeout for a TCP connection
 * @param protocol in which version of HTTP they are asked
 * @param tls of the origins that speak it
 * @param retries how often a request that failed may be sent once more, if that is safe
 * @param health when an origin is left alone
 * @param pool how many connections an origin gets
 * @param connection what one connection puts up with
 * @param forwarding what origins are told
 */
public record UpstreamSettings(
    ChoiceSettings choice,
    Duration connectTimeout,
    OriginProtocol protocol,
    OriginTlsSettings tls,
    int retries,
    HealthPolicy health,
    PoolSettings pool,
    ConnectionSettings connection,
    ForwardingSettings forwarding) {

  public static final Setting<OriginProtocol> PROTOCOL =
      Setting.of(
              "protocol",
              ValueTypes.oneOf(OriginProtocol.WORDS),
              "The version of HTTP that origins are asked in. `auto` lets `https://` origins"
                  + " choose, HTTP/2 first, and asks `http://` origins in HTTP/1.1. `h2` is HTTP/2"
                  + " over TLS alone, `h2c` HTTP/2 in clear text.")
          .defaultsTo(OriginProtocol.AUTO);

  public static final Subsection<OriginTlsSettings> TLS =
      OriginTlsSettings.SECTION.one(
          "tls", "TLS with the origins whose URL begins with `https://`.");

  public static final Subsection<HealthPolicy> HEALTH =
      HealthPolicy.SECTION.one(
          "health", "When an origin gets no more requests, judged by the requests it had.");

  /** The settings of an upstream but for its origins. */
  public static final Section<UpstreamSettings> SECTION =
      Section.of(
          UpstreamSettings.class,
          ChoiceSettings.SECTION.inlined(),
          Setting.of(
                  "connect-timeout",
                  ValueTypes.duration(Duration.ofMillis(1), Duration.ofMinutes(5)),
                  "How long a connection to an origin may take to open; a TLS handshake may then"
                      + " take as long. Afterwards the request is retried or answered with 504.")
              .defaultsTo(Duration.ofSeconds(1)),
          PROTOCOL,
          TLS,
          Setting.of(
                  "retries",
                  ValueTypes.wholeNumber(0, 5),
                  "How often a safe or idempotent request that failed before the first byte of an"
                      + " answer is sent again, on another connection.")
              .defaultsTo(1),
          HEALTH,
          PoolSettings.SECTION.inlined(),
          ConnectionSettings.SECTION.inlined(),
          Row.fixed(ForwardingSettings.DEFAULTS));

  public static final UpstreamSettings DEFAULTS = SECTION.defaults();

  public UpstreamSettings {
    if (!connectTimeout.isPositive() || retries < 0) {
      throw new IllegalArgumentException(
          "connectTimeout: "
              + connectTimeout
              + ", retries: "
              + retries
              + " (expected: positive, 0 or more)");
    }
  }

  /** The same with what holds for all upstreams, and what a route says. */
  public UpstreamSettings with(
      ConnectionSettings otherConnection, ForwardingSettings otherForwarding) {
    return new UpstreamSettings(
        choice,
        connectTimeout,
        protocol,
        tls,
        retries,
        health,
        pool,
        otherConnection,
        otherForwarding);
  }

  /** An origin that is judged by these settings. */
  public Origin origin(OriginUrl url, int weight) {
    return origin(new OriginSettings(url, weight, false));
  }

  /** An origin that is judged by these settings. */
  public Origin origin(OriginSettings origin) {
    return new Origin(origin.url(), origin.weight(), origin.backup(), new OriginHealth(health));
  }

  /**
   * An origin that other settings had before, judged by these from now on: what is known of its
   * health and its addresses goes on. The same object where nothing differs.
   */
  public Origin origin(Origin before, OriginSettings origin) {
    return before.with(origin.weight(), origin.backup(), before.health().under(health));
  }

  /** The origins that are named; of those known before, each with the same URL goes on. */
  public List<Origin> origins(List<OriginSettings> named, List<Origin> known) {
    Map<OriginUrl, Origin> before = new HashMap<>();
    known.forEach(origin -> before.put(origin.url(), origin));
    List<Origin> origins = new ArrayList<>();
    for (OriginSettings origin : named) {
      Origin same = before.get(origin.url());
      origins.add(same == null ? origin(origin) : origin(same, origin));
    }
    return List.copyOf(origins);
  }
}
