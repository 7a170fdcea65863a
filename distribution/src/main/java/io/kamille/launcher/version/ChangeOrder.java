package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.TimeSpan;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Who wants a change of the configuration, and how.
 *
 * @param match what {@code If-Match} says; null for whatever runs
 * @param comment empty for none
 * @param confirm how long the change is on trial; null to keep it at once
 * @param guard what ends the trial before; null for nothing
 */
record ChangeOrder(
    String by,
    String comment,
    @Nullable String match,
    @Nullable Duration confirm,
    TrialGuard.@Nullable Limits guard) {

  /** The end of an entity tag for the JSON of what the tag without it stands for. */
  static final String JSON_TAG = "-json\"";

  private static final int COMMENT_LIMIT = 500;
  private static final Duration LEAST_TRIAL = Duration.ofSeconds(30);
  private static final Duration LONGEST_TRIAL = Duration.ofHours(1);

  /** Of a request, with these texts of its query or content; empty ones and nulls say nothing. */
  static ChangeOrder of(
      AdminRequest request,
      String comment,
      @Nullable String confirm,
      @Nullable String guard,
      @Nullable String guardP99)
      throws InvalidRequest {
    if (comment.length() > COMMENT_LIMIT || comment.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidRequest(
          "A comment is one line of at most " + COMMENT_LIMIT + " characters.");
    }
    Duration trial = duration(confirm, LEAST_TRIAL, "confirm is a duration of 30s to 1h.");
    Duration p99 =
        duration(guardP99, Duration.ofMillis(1), "guardP99 is a duration such as 800ms.");
    Double rise = share(guard);
    boolean isGuarded = rise != null || p99 != null;
    if (isGuarded && trial == null) {
      throw new InvalidRequest("guard and guardP99 need confirm.");
    }
    return new ChangeOrder(
        request.identity() == null ? "" : request.identity().name(),
        comment,
        match(request),
        trial,
        isGuarded ? new TrialGuard.Limits(rise, p99) : null);
  }

  private static @Nullable Duration duration(@Nullable String text, Duration least, String expected)
      throws InvalidRequest {
    if (text == null || text.isEmpty()) {
      return null;
    }
    Duration duration = TimeSpan.parse(text);
    if (duration == null
        || duration.compareTo(least) < 0
        || duration.compareTo(LONGEST_TRIAL) > 0) {
      throw new InvalidRequest(expected);
    }
    return duration;
  }

  private static @Nullable Double share(@Nullable String text) throws InvalidRequest {
    if (text == null || text.isEmpty()) {
      return null;
    }
    if (!text.matches("0?\\.[0-9]{1,4}")) {
      throw new InvalidRequest("guard is a share such as 0.05.");
    }
    return Double.valueOf(text);
  }

  /** What a change is of: whoever changes something has seen it. */
  static String match(AdminRequest request) throws InvalidRequest {
    String match = request.field("If-Match");
    if (match == null) {
      throw new InvalidRequest(
          "no If-Match",
          Answer.problem(
              StatusCode.PRECONDITION_REQUIRED,
              "Say by If-Match which version this is a change of: the ETag of GET."));
    }
    return match.replace(JSON_TAG, "\"");
  }

  /** Whether {@code If-Match} names {@code tag}: strong comparison (RFC 9110 §13.1.1). */
  static boolean matches(String match, String tag) {
    return match.strip().equals("*")
        || Arrays.stream(match.split(",", -1)).anyMatch(each -> each.strip().equals(tag));
  }
}
