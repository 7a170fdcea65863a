package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.version.ConfigControl.Outcome;
import io.kamille.launcher.version.ConfigDocuments.Committed;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads from requests who wants a change of the configuration, and how. Stateless; any thread. */
final class Orders {

  static final int COMMENT_LIMIT = 500;

  /** The end of an entity tag for the JSON of what the tag without it stands for. */
  static final String JSON_TAG = "-json\"";

  private static final Duration LEAST_TRIAL = Duration.ofSeconds(30);
  private static final Duration LONGEST_TRIAL = Duration.ofHours(1);

  private Orders() {}

  /**
   * An order of these texts.
   *
   * @param match as that of {@link ChangeOrder}
   */
  static ChangeOrder of(
      String by,
      String comment,
      @Nullable String match,
      @Nullable String confirm,
      @Nullable String guard,
      @Nullable String guardP99)
      throws InvalidRequest {
    Duration trial = confirm(confirm);
    return new ChangeOrder(by, comment, match, trial, limits(guard, guardP99, trial));
  }

  /** What a change is of: whoever changes something has seen it. */
  static String match(AdminRequest request) throws InvalidRequest {
    String match = request.field("If-Match");
    if (match == null) {
      throw new InvalidRequest(
          Answer.problem(
              StatusCode.PRECONDITION_REQUIRED,
              "Say by If-Match which version this is a change of: the ETag of GET."));
    }
    return match.replace(JSON_TAG, "\"");
  }

  private static TrialGuard.@Nullable Limits limits(
      @Nullable String guard, @Nullable String guardP99, @Nullable Duration trial)
      throws InvalidRequest {
    Double rise = guard == null || guard.isEmpty() ? null : share(guard);
    Duration p99 = guardP99 == null || guardP99.isEmpty() ? null : p99(guardP99);
    if (rise == null && p99 == null) {
      return null;
    }
    if (trial == null) {
      throw bad("guard and guardP99 need confirm.");
    }
    return new TrialGuard.Limits(rise, p99);
  }

  private static Double share(String text) throws InvalidRequest {
    if (!text.matches("0?\\.[0-9]{1,4}")) {
      throw bad("guard is a share such as 0.05.");
    }
    return Double.valueOf(text);
  }

  private static Duration p99(String text) throws InvalidRequest {
    Duration limit = TimeSpan.parse(text);
    if (limit == null || limit.toMillis() < 1 || limit.compareTo(LONGEST_TRIAL) > 0) {
      throw bad("guardP99 is a duration such as 800ms.");
    }
    return limit;
  }

  static String by(AdminRequest request) {
    return request.identity() == null ? "" : request.identity().name();
  }

  /** The query's comment, in UTF-8: a query has octets, one per character. */
  static String comment(AdminRequest request, Operation operation) throws InvalidRequest {
    String octets = Query.of(request, operation).optional("comment");
    return octets == null
        ? ""
        : line(new String(octets.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
  }

  /** A comment of one line. */
  static String line(String comment) throws InvalidRequest {
    if (comment.length() > COMMENT_LIMIT || comment.chars().anyMatch(Character::isISOControl)) {
      throw bad("A comment is one line of at most " + COMMENT_LIMIT + " characters.");
    }
    return comment;
  }

  private static @Nullable Duration confirm(@Nullable String text) throws InvalidRequest {
    if (text == null || text.isEmpty()) {
      return null;
    }
    Duration confirm = TimeSpan.parse(text);
    if (confirm == null
        || confirm.compareTo(LEAST_TRIAL) < 0
        || confirm.compareTo(LONGEST_TRIAL) > 0) {
      throw bad("confirm is a duration of 30s to 1h.");
    }
    return confirm;
  }

  static Answer committed(Outcome outcome) {
    return Answer.json(Committed.of(outcome)).with("ETag", outcome.tag());
  }

  static int number(String text, String expected) throws InvalidRequest {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw bad(expected);
    }
    return Integer.parseInt(text);
  }

  static String text(JsonNode document, String name) throws InvalidRequest {
    JsonNode member = document.path(name);
    if (!member.isMissingNode() && !member.isString()) {
      throw bad(name + " must be a text.");
    }
    return member.stringValue("");
  }

  static void members(JsonNode document, List<String> known) throws InvalidRequest {
    if (!document.isObject() || !known.containsAll(document.propertyNames())) {
      throw bad("The content must be an object with " + String.join(", ", known) + ".");
    }
  }

  static InvalidRequest bad(String sentence) {
    return new InvalidRequest(Answer.problem(StatusCode.BAD_REQUEST, sentence));
  }
}
