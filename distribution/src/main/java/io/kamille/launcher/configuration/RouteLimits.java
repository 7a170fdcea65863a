package io.kamille.launcher.configuration;

import io.kamille.core.gate.RateLimitSettings;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much of a route its clients may use.
 *
 * @param rates how often, in the order of the file
 * @param requestContent bytes of content of one request; {@link Long#MAX_VALUE} for no limit of the
 *     route's own
 * @param headTimeout in place of that of the upstream; null for the same
 * @param contentTimeout likewise
 */
public record RouteLimits(
    List<RateLimitSettings> rates,
    long requestContent,
    @Nullable Duration headTimeout,
    @Nullable Duration contentTimeout) {

  static final Subsection<RateLimitSettings> RATE_LIMIT =
      RateLimitSettings.SECTION.some(
          "rate-limit",
          "How often each client may use the route: one limit, or a list of them that all hold. A"
              + " request that one of them refuses counts for those before it. A reload that leaves"
              + " a limit as it is goes on counting.");

  static final Setting<Duration> HEAD_TIMEOUT =
      Setting.of(
              "head-timeout",
              ValueTypes.timeout(),
              "The `head-timeout` of the upstream for this route. A route with a timeout of its own"
                  + " has its own connections to the origins.")
          .orElse("that of the upstream");

  static final Setting<Duration> CONTENT_TIMEOUT =
      Setting.of(
              "content-timeout",
              ValueTypes.timeout(),
              "The `content-timeout` of the upstream for this route, in the same way.")
          .orElse("that of the upstream");

  static final Section<RouteLimits> SECTION =
      Section.of(
          RouteLimits.class,
          RATE_LIMIT,
          Setting.of(
                  "request-content",
                  ValueTypes.size(1, 1L << 50),
                  "The most content of one request on this route; more is answered with 413."
                      + " `limits.request-content` holds beside it.")
              .orElse("`limits.request-content` alone", Long.MAX_VALUE),
          HEAD_TIMEOUT,
          CONTENT_TIMEOUT);

  public static final RouteLimits NONE = SECTION.defaults();

  /** Whether a request may have too much content for this route alone. */
  public boolean boundsContent() {
    return requestContent != Long.MAX_VALUE;
  }
}
