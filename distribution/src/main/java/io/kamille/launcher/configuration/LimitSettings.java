package io.kamille.launcher.configuration;

import io.kamille.core.admission.ClientLimits;
import io.kamille.core.setting.AddressRanges;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What clients and origins may send, how much of it and how slowly.
 *
 * @param requestTargetBytes of the request line's target, else 414
 * @param fields in the head of a request, else 431
 * @param headBytes of a request head, else 431
 * @param responseFields in the head of a response, else 502
 * @param responseHeadBytes of a response head from an origin, else 502
 * @param connections from clients, over all listeners
 * @param idleThreshold share of the connections near which the idle time-out has become shortest;
 *     infinity for none
 * @param client what one client may have at a time
 * @param headTimeout from the first byte of a request to the end of its head
 * @param idleTimeout of a connection between requests
 * @param contentTimeout without a byte of content moving from or to the client
 * @param tunnelTimeout of a connection after an upgrade, without a byte either way
 * @param uploadBytesPerSecond the least rate of request content, else 408; 0 for no limit
 * @param uploadGrace how long request content may come slower than that
 * @param downloadBytesPerSecond the least rate at which clients take what waits for them; 0 for no
 *     limit
 * @param downloadGrace how long they may take it slower than that
 * @param requestContentBytes of one request's content, else 413; {@link Long#MAX_VALUE} for no
 *     limit
 * @param drainDeadline how long exchanges may finish after the order to stop
 */
public record LimitSettings(
    int requestTargetBytes,
    int fields,
    int headBytes,
    int responseFields,
    int responseHeadBytes,
    int connections,
    double idleThreshold,
    Client client,
    Duration headTimeout,
    Duration idleTimeout,
    Duration contentTimeout,
    Duration tunnelTimeout,
    long uploadBytesPerSecond,
    Duration uploadGrace,
    long downloadBytesPerSecond,
    Duration downloadGrace,
    long requestContentBytes,
    Duration drainDeadline) {

  /**
   * What one client may have at a time.
   *
   * @param connections that are open, else the next one is closed; {@link Integer#MAX_VALUE} for no
   *     limit
   * @param requests under way, else 429; {@link Integer#MAX_VALUE} for no limit
   * @param ipv6PrefixLength how many bits of an IPv6 address tell clients apart
   * @param unlimited addresses and ranges that these limits do not hold for
   */
  public record Client(
      int connections, int requests, int ipv6PrefixLength, List<String> unlimited) {

    /** The same, understood. */
    public ClientLimits limits() {
      return new ClientLimits(
          connections, requests, ipv6PrefixLength, AddressRanges.parse(unlimited));
    }
  }

  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final long TIB = 1L << 40;
  private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);
  private static final Duration GREATEST_TIMEOUT = Duration.ofHours(24);

  static final Setting<Long> REQUEST_TARGET =
      Setting.of(
              "limits.request-target",
              ValueTypes.size(256, MIB),
              "The longest request target. A longer one is answered with 414.")
          .defaultsTo(8 * KIB);

  static final Setting<Integer> FIELDS =
      Setting.of(
              "limits.fields",
              ValueTypes.wholeNumber(10, 10_000),
              "The most field lines in a request head. More are answered with 431. Trailers have a limit"
                  + " of their own, 32 lines.")
          .defaultsTo(100);

  static final Setting<Long> HEAD_SIZE =
      Setting.of(
              "limits.head-size",
              ValueTypes.size(KIB, MIB),
              "The largest request head, request line included. A larger one is answered with 431, and"
                  + " so is one larger than a loop's part of an eighth of the Java heap.")
          .defaultsTo(32 * KIB);

  static final Setting<Integer> RESPONSE_FIELDS =
      Setting.of(
              "limits.response-fields",
              ValueTypes.wholeNumber(10, 10_000),
              "The most field lines in a response head from an origin. More are answered with 502."
                  + " Trailers have a limit of their own, 32 lines.")
          .defaultsTo(200);

  static final Setting<Long> RESPONSE_HEAD_SIZE =
      Setting.of(
              "limits.response-head-size",
              ValueTypes.size(KIB, MIB),
              "The largest response head from an origin. A larger one is answered with 502.")
          .defaultsTo(64 * KIB);

  static final Setting<Integer> CONNECTIONS =
      Setting.of(
              "limits.connections",
              ValueTypes.wholeNumber(1, 10_000_000),
              "The most client connections at once, over all listeners. Every one needs a file"
                  + " descriptor; a request toward an origin needs another. Beyond it, a new"
                  + " connection takes the place of the one that is idle longest on its loop, or of"
                  + " one that is closing and whose last answer has arrived whole; if there is none,"
                  + " the new one is closed.")
          .defaultsTo(8_192);

  static final Setting<Optional<Double>> IDLE_THRESHOLD =
      Setting.of(
              "limits.idle-threshold",
              ValueTypes.orWord("off", ValueTypes.positiveRatio()),
              "The share of `limits.connections` that idle connections keep below, or `off`. Once half"
                  + " as many are open, `limits.idle-timeout` becomes shorter, the more so the more"
                  + " there are, down to a second when the share is reached. The longest idle is"
                  + " closed first, and never within a request.")
          .defaultsTo(Optional.of(0.7));

  static final Setting<Optional<Integer>> CLIENT_CONNECTIONS =
      Setting.of(
              "limits.client.connections",
              ValueTypes.orWord("none", ValueTypes.wholeNumber(1, 10_000_000)),
              "The most connections of one client at once, over all listeners, or `none` for no such"
                  + " limit. One more is closed as soon as it is accepted; no idle connection yields"
                  + " to it. Connections that came before there was a limit are not counted.")
          .defaultsTo(Optional.empty());

  static final Setting<Optional<Integer>> CLIENT_REQUESTS =
      Setting.of(
              "limits.client.requests",
              ValueTypes.orWord("none", ValueTypes.wholeNumber(1, 10_000_000)),
              "The most requests of one client under way at once, over all listeners, or `none` for"
                  + " no such limit. One more is answered with 429, whatever it is for. A request is"
                  + " under way until its answer has been handed to its connection, a tunnel until"
                  + " it ends.")
          .defaultsTo(Optional.empty());

  static final Setting<Integer> CLIENT_IPV6_PREFIX =
      Setting.of(
              "limits.client.ipv6-prefix",
              ValueTypes.wholeNumber(32, 128),
              "How many bits of an IPv6 address tell clients apart. Whoever has a network has at"
                  + " least a /64, and can use each of its addresses.")
          .defaultsTo(64);

  static final Setting<List<String>> CLIENT_UNLIMITED =
      Setting.of(
              "limits.client.unlimited",
              AccessSettings.addresses(),
              "Addresses and ranges (CIDR) that these limits do not hold for: load balancers, whose"
                  + " address stands for all who come through them.")
          .defaultsTo("none", client -> List.of());

  private static final Section CLIENT =
      Section.one(
          "limits.client",
          "What one client may have at a time: an IPv4 address, or a network of IPv6 addresses. What"
              + " counts is the address that the connection comes from.",
          CLIENT_CONNECTIONS,
          CLIENT_REQUESTS,
          CLIENT_IPV6_PREFIX,
          CLIENT_UNLIMITED);

  static final Setting<Duration> HEAD_TIMEOUT =
      Setting.of(
              "limits.head-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long a client may take from the first byte of a request to the end of its head."
                  + " Afterwards it gets 408.")
          .defaultsTo(Duration.ofSeconds(10));

  static final Setting<Duration> IDLE_TIMEOUT =
      Setting.of(
              "limits.idle-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long a client connection without a request stays open, unless"
                  + " `limits.idle-threshold` makes it shorter.")
          .defaultsTo(Duration.ofSeconds(75));

  static final Setting<Duration> CONTENT_TIMEOUT =
      Setting.of(
              "limits.content-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long content from or to a client may stand still. Time in which the origin is the"
                  + " slow one does not count. The limit that is reached first holds: a pause that"
                  + " fills a whole `limits.upload-grace` or `limits.download-grace` is too slow for"
                  + " `limits.upload-rate` or `limits.download-rate` already.")
          .defaultsTo(Duration.ofSeconds(30));

  static final Setting<Duration> TUNNEL_TIMEOUT =
      Setting.of(
              "limits.tunnel-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long a connection may stand still in both directions after an upgrade, to"
                  + " WebSocket for example.")
          .defaultsTo(Duration.ofHours(1));

  static final Setting<Optional<Long>> UPLOAD_RATE =
      Setting.of(
              "limits.upload-rate",
              ValueTypes.orWord("none", ValueTypes.size(1, GIB)),
              "The least rate, in bytes per second, at which a client must send the content of a"
                  + " request, or `none` for no such limit. A client that sends less within a"
                  + " `limits.upload-grace` is answered with 408, also if it pauses for less than"
                  + " `limits.content-timeout`. Time in which the origin is the slow one does not"
                  + " count.")
          .defaultsTo(Optional.of(500L));

  static final Setting<Duration> UPLOAD_GRACE =
      Setting.of(
              "limits.upload-grace",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long request content may come slower than `limits.upload-rate`. What came before"
                  + " gives no credit.")
          .defaultsTo(Duration.ofSeconds(20));

  static final Setting<Optional<Long>> DOWNLOAD_RATE =
      Setting.of(
              "limits.download-rate",
              ValueTypes.orWord("none", ValueTypes.size(1, GIB)),
              "The least rate, in bytes per second, at which a client must take what waits for it, or"
                  + " `none` for no such limit. A client that takes less within a"
                  + " `limits.download-grace` is reset. Taken is what its side has acknowledged by"
                  + " TCP, whatever the send buffer holds. Time in which all it is to get has been"
                  + " handed to the kernel, because the origin is the slow one, does not count, nor"
                  + " does a connection after an upgrade.")
          .defaultsTo(Optional.of(500L));

  static final Setting<Duration> DOWNLOAD_GRACE =
      Setting.of(
              "limits.download-grace",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long a client may take what waits for it slower than `limits.download-rate`. What"
                  + " it took before gives no credit.")
          .defaultsTo(Duration.ofSeconds(30));

  static final Setting<Optional<Long>> REQUEST_CONTENT =
      Setting.of(
              "limits.request-content",
              ValueTypes.orWord("none", ValueTypes.size(0, TIB)),
              "The most content one request may carry, or `none` for no limit. More is answered with"
                  + " 413.")
          .defaultsTo(Optional.empty());

  static final Setting<Duration> DRAIN_DEADLINE =
      Setting.of(
              "limits.drain-deadline",
              ValueTypes.duration(Duration.ZERO, GREATEST_TIMEOUT),
              "How long exchanges may go on after the order to stop. What is left then is cut off.")
          .defaultsTo(Duration.ofSeconds(30));

  static final Section SECTION =
      Section.one(
          "limits",
          "What clients and origins may send, how much of it and how slowly.",
          REQUEST_TARGET,
          FIELDS,
          HEAD_SIZE,
          RESPONSE_FIELDS,
          RESPONSE_HEAD_SIZE,
          CONNECTIONS,
          IDLE_THRESHOLD,
          CLIENT,
          HEAD_TIMEOUT,
          IDLE_TIMEOUT,
          CONTENT_TIMEOUT,
          TUNNEL_TIMEOUT,
          UPLOAD_RATE,
          UPLOAD_GRACE,
          DOWNLOAD_RATE,
          DOWNLOAD_GRACE,
          REQUEST_CONTENT,
          DRAIN_DEADLINE);

  static LimitSettings of(SectionValues values) {
    return new LimitSettings(
        Math.toIntExact(values.value(REQUEST_TARGET)),
        values.value(FIELDS),
        Math.toIntExact(values.value(HEAD_SIZE)),
        values.value(RESPONSE_FIELDS),
        Math.toIntExact(values.value(RESPONSE_HEAD_SIZE)),
        values.value(CONNECTIONS),
        values.value(IDLE_THRESHOLD).orElse(Double.POSITIVE_INFINITY),
        client(values.one(CLIENT)),
        values.value(HEAD_TIMEOUT),
        values.value(IDLE_TIMEOUT),
        values.value(CONTENT_TIMEOUT),
        values.value(TUNNEL_TIMEOUT),
        values.value(UPLOAD_RATE).orElse(0L),
        values.value(UPLOAD_GRACE),
        values.value(DOWNLOAD_RATE).orElse(0L),
        values.value(DOWNLOAD_GRACE),
        values.value(REQUEST_CONTENT).orElse(Long.MAX_VALUE),
        values.value(DRAIN_DEADLINE));
  }

  private static Client client(SectionValues values) {
    return new Client(
        values.value(CLIENT_CONNECTIONS).orElse(ClientLimits.NO_LIMIT),
        values.value(CLIENT_REQUESTS).orElse(ClientLimits.NO_LIMIT),
        values.value(CLIENT_IPV6_PREFIX),
        values.value(CLIENT_UNLIMITED));
  }
}
