package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;

/**
 * A named group of origin servers that routes forward to.
 *
 * @param headTimeout from the request's end to the response head's end
 * @param contentTimeout without a byte of content moving
 * @param idleTimeout of a pooled connection without a request
 * @param maxConnections to one origin from one loop
 * @param maxIdleConnections pooled, to one origin from one loop
 * @param maxWaiting requests that wait for a connection to one origin on one loop
 * @param concurrency whether the number of requests at a time finds itself
 * @param queueTimeout how long one of them may wait
 * @param retries on another connection, for a safe or idempotent request without an answer
 */
public record UpstreamSettings(
    String name,
    List<OriginSettings> origins,
    Choice choice,
    Duration connectTimeout,
    Duration headTimeout,
    Duration contentTimeout,
    Duration idleTimeout,
    int maxConnections,
    int maxIdleConnections,
    int maxWaiting,
    Duration queueTimeout,
    Concurrency concurrency,
    int retries,
    HealthSettings health) {

  /** How one of several origins is chosen for a request. */
  public enum Choice {
    /** The less loaded of two taken at random, by weight. */
    POWER_OF_TWO,
    /** Each in turn, by weight. */
    ROUND_ROBIN
  }

  /** How many requests at a time an origin gets from one loop. */
  public enum Concurrency {
    /** As many as connections. */
    FIXED,
    /** As many as it can do without keeping them waiting, as far as that shows. */
    ADAPTIVE
  }

  private static final Duration LEAST_TIMEOUT = Duration.ofMillis(1);
  private static final Duration GREATEST_TIMEOUT = Duration.ofHours(24);

  static final Setting<Choice> CHOICE =
      Setting.of(
              "upstreams.*.choice",
              ValueTypes.oneOf(Choice.values()),
              "How one of several origins is chosen for a request: `power-of-two` takes the one with"
                  + " fewer requests in flight of two drawn by weight, `round-robin` takes each in"
                  + " turn by weight.")
          .defaultsTo(Choice.POWER_OF_TWO);

  static final Setting<Duration> CONNECT_TIMEOUT =
      Setting.of(
              "upstreams.*.connect-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, Duration.ofMinutes(5)),
              "How long a connection to an origin may take to open. Afterwards the request is"
                  + " retried or answered with 504.")
          .defaultsTo(Duration.ofSeconds(1));

  static final Setting<Duration> HEAD_TIMEOUT =
      Setting.of(
              "upstreams.*.head-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long an origin may take from the end of the request to the end of the response"
                  + " head, whatever interim responses come before it. Afterwards the client gets"
                  + " 504.")
          .defaultsTo(Duration.ofSeconds(60));

  static final Setting<Duration> CONTENT_TIMEOUT =
      Setting.of(
              "upstreams.*.content-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long content from or to an origin may stand still. Time in which the client is"
                  + " the slow one does not count.")
          .defaultsTo(Duration.ofSeconds(60));

  static final Setting<Duration> IDLE_TIMEOUT =
      Setting.of(
              "upstreams.*.idle-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long a connection without a request stays open for the next one. Keep it shorter"
                  + " than the origin's own limit (5 s in Node.js and Apache), so that no request"
                  + " meets a connection that the origin is closing.")
          .defaultsTo(Duration.ofSeconds(4));

  static final Setting<Integer> MAX_CONNECTIONS =
      Setting.of(
              "upstreams.*.max-connections",
              ValueTypes.wholeNumber(1, 65_535),
              "Connections that one loop opens to one origin. Multiply by `loops` for the most that"
                  + " an origin sees. Requests whose content is still to come get three quarters of"
                  + " them at the most (of one, that one), so that slow uploads leave some to"
                  + " requests without content.")
          .defaultsTo(512);

  static final Setting<Integer> MAX_IDLE_CONNECTIONS =
      Setting.of(
              "upstreams.*.max-idle-connections",
              ValueTypes.wholeNumber(0, 65_535),
              "Connections without a request that one loop keeps open to one origin.")
          .defaultsTo(128);

  static final Setting<Integer> MAX_WAITING =
      Setting.of(
              "upstreams.*.max-waiting",
              ValueTypes.wholeNumber(0, 1_000_000),
              "Requests on one loop that may wait while all connections to an origin are in use."
                  + " More are answered with 503 at once. Requests with content get three quarters of"
                  + " the line at the most.")
          .defaultsTo(1_024);

  static final Setting<Duration> QUEUE_TIMEOUT =
      Setting.of(
              "upstreams.*.queue-timeout",
              ValueTypes.duration(LEAST_TIMEOUT, GREATEST_TIMEOUT),
              "How long such a request waits before it is answered with 503.")
          .defaultsTo(Duration.ofSeconds(5));

  static final Setting<Concurrency> CONCURRENCY =
      Setting.of(
              "upstreams.*.concurrency",
              ValueTypes.oneOf(Concurrency.values()),
              "How many requests at a time an origin gets from one loop: `fixed` gives as many as"
                  + " `max-connections`, `adaptive` fewer when its answers begin later than with few"
                  + " requests under way. More wait. Only for origins whose answers all take about"
                  + " as long to begin.")
          .defaultsTo(Concurrency.FIXED);

  static final Setting<Integer> RETRIES =
      Setting.of(
              "upstreams.*.retries",
              ValueTypes.wholeNumber(0, 5),
              "How often a safe or idempotent request that failed before the first byte of an answer"
                  + " is sent again, on another connection.")
          .defaultsTo(1);

  static final Section SECTION =
      Section.named(
              "upstreams",
              "Groups of origin servers under names of your choice; routes forward to them by name.",
              OriginSettings.SECTION,
              CHOICE,
              CONNECT_TIMEOUT,
              HEAD_TIMEOUT,
              CONTENT_TIMEOUT,
              IDLE_TIMEOUT,
              MAX_CONNECTIONS,
              MAX_IDLE_CONNECTIONS,
              MAX_WAITING,
              QUEUE_TIMEOUT,
              CONCURRENCY,
              RETRIES,
              HealthSettings.SECTION)
          .atLeastOne("at least one upstream");

  static UpstreamSettings of(SectionValues values) {
    return new UpstreamSettings(
        values.name(),
        values.all(OriginSettings.SECTION).stream().map(OriginSettings::of).toList(),
        values.value(CHOICE),
        values.value(CONNECT_TIMEOUT),
        values.value(HEAD_TIMEOUT),
        values.value(CONTENT_TIMEOUT),
        values.value(IDLE_TIMEOUT),
        values.value(MAX_CONNECTIONS),
        values.value(MAX_IDLE_CONNECTIONS),
        values.value(MAX_WAITING),
        values.value(QUEUE_TIMEOUT),
        values.value(CONCURRENCY),
        values.value(RETRIES),
        HealthSettings.of(values.one(HealthSettings.SECTION)));
  }
}
