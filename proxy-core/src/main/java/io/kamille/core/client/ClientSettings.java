package io.kamille.core.client;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How patient and how generous we are with clients.
 *
 * @param head limits of a request head
 * @param headTimeout from the first octet of a head (or the connection's beginning) to its last
 * @param idleTimeout between requests
 * @param contentTimeout without progress while content comes from, or goes to, the client
 * @param tunnelTimeout without an octet either way after an upgrade
 * @param answersHalfClosed whether a client of HTTP/1.1 that has closed its side is still answered
 * @param minBytesPerSecond content from a client that comes slower is 408, and a client that takes
 *     what waits for it slower is closed; 0 for no limit
 * @param maxContentBytes content of one request; more is 413
 * @param lowWatermarkBytes octets waiting for the client below which the source goes on
 * @param highWatermarkBytes octets waiting for the client above which the source pauses
 */
public record ClientSettings(
    HeadLimits head,
    Duration headTimeout,
    Duration idleTimeout,
    Duration contentTimeout,
    Duration tunnelTimeout,
    boolean answersHalfClosed,
    long minBytesPerSecond,
    long maxContentBytes,
    int lowWatermarkBytes,
    int highWatermarkBytes) {

  /** How long content may come slower than the least rate. */
  static final long UPLOAD_GRACE_NANOS = Duration.ofSeconds(20).toNanos();

  /** How long a client may take what waits for it slower than the least rate. */
  public static final long DOWNLOAD_GRACE_NANOS = Duration.ofSeconds(30).toNanos();

  private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);
  private static final Duration GREATEST_TIMEOUT = Duration.ofHours(24);

  /** What {@code limits} says of connections of clients. */
  public static final Section<ClientSettings> SECTION =
      Section.of(
          ClientSettings.class,
          HeadLimits.OF_REQUEST.inlined(),
          Setting.of(
                  "head-timeout",
                  ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
                  "How long a client may take from the first byte of a request to the end of its"
                      + " head. Afterwards it gets 408.")
              .defaultsTo(Duration.ofSeconds(10)),
          Setting.of(
                  "idle-timeout",
                  ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
                  "How long a client connection without a request stays open, unless"
                      + " `limits.idle-threshold` makes it shorter.")
              .defaultsTo(Duration.ofSeconds(75)),
          Setting.of(
                  "content-timeout",
                  ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
                  "How long content from or to a client may stand still. Time in which the origin"
                      + " is the slow one does not count. With `limits.min-rate`, a pause of 20 s"
                      + " is too slow already.")
              .defaultsTo(Duration.ofSeconds(30)),
          Setting.of(
                  "tunnel-timeout",
                  ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
                  "How long a connection may stand still in both directions after an upgrade, to"
                      + " WebSocket for example.")
              .defaultsTo(Duration.ofHours(1)),
          Setting.of(
                  "half-closed",
                  ValueTypes.onOff(),
                  "Whether a client of HTTP/1.1 that has closed its side still gets its answer. If"
                      + " `off`, its request is cancelled, unless others wait for the response,"
                      + " too.")
              .defaultsTo(false)
              .into("answersHalfClosed"),
          Setting.of(
                  "min-rate",
                  ValueTypes.orWord("none", 0L, ValueTypes.size(1, 1L << 30)),
                  "The least rate, in bytes per second, at which a client must send the content of"
                      + " a request, and take that of a response; `none` for no such limit. A"
                      + " client that sends less within 20 s is answered with 408. One that takes"
                      + " less within 30 s is reset: taken is what its side has acknowledged by"
                      + " TCP. Time in which the origin is the slow one does not count. A"
                      + " connection after an upgrade is not measured.")
              .defaultsTo(500L)
              .into("minBytesPerSecond"),
          Setting.of(
                  "request-content",
                  ValueTypes.orWord("none", Long.MAX_VALUE, ValueTypes.size(0, 1L << 40)),
                  "The most content one request may carry, or `none` for no limit. More is answered"
                      + " with 413.")
              .defaultsTo(Long.MAX_VALUE)
              .into("maxContentBytes"),
          Row.fixed(64 * 1024),
          Row.fixed(128 * 1024));

  /** What suits most sites. */
  public static final ClientSettings DEFAULT = SECTION.defaults();
}
