package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.JsonContent;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.ProblemType;
import io.kamille.admin.api.Query;
import io.kamille.admin.api.Resource;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.configuration.ConfigurationSchema;
import io.kamille.launcher.patch.JsonPatch;
import io.kamille.launcher.patch.MergePatch;
import io.kamille.launcher.version.ConfigControl.Outcome;
import io.kamille.launcher.version.ConfigDocuments.Changes;
import io.kamille.launcher.version.ConfigDocuments.Committed;
import io.kamille.launcher.version.ConfigDocuments.LastTrial;
import io.kamille.launcher.version.ConfigDocuments.Problems;
import io.kamille.launcher.version.ConfigDocuments.Shown;
import io.kamille.launcher.version.ConfigDocuments.TrialShown;
import io.kamille.launcher.version.ConfigDocuments.Versions;
import io.kamille.launcher.version.ConfigDocuments.Wrong;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/config}: what runs, changes, trials, and the way back. */
public final class ConfigResources {

  private static final String PATH = "/v1/config";
  private static final String YAML = "application/yaml";
  private static final Duration LEAST_TRIAL = Duration.ofSeconds(30);
  private static final Duration LONGEST_TRIAL = Duration.ofHours(1);
  private static final int COMMENT_LIMIT = 500;

  /** The end of an entity tag for the JSON of what the tag without it stands for. */
  private static final String JSON_TAG = "-json\"";

  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final String JSON_PATCH = "application/json-patch+json";

  private static final Operation CHANGE = parameters(Operation.put(PATH, Scope.ADMIN, ""));

  private static final Operation DIFF =
      Operation.get(
              PATH + "/diff",
              Scope.READ,
              "The difference between two versions, as JSON or as a unified diff (text/x-diff).")
          .must("from", "A version's number.")
          .must("to", "A version's number.");

  private final ConfigControl control;

  private ConfigResources(ConfigControl control) {
    this.control = control;
  }

  /** All of them. */
  public static List<Resource> of(ConfigControl control) {
    var resources = new ConfigResources(control);
    return List.of(
        new Served(
            Operation.get(PATH, Scope.READ, "The configuration that runs, as YAML or JSON.")
                .answers(Shown.class),
            resources::running),
        new Served(
            parameters(Operation.put(PATH, Scope.ADMIN, "Puts another configuration in force."))
                .takes(YAML)
                .upTo(ConfigTree.LIMIT_BYTES)
                .answers(Committed.class),
            resources::commit),
        new Served(
            parameters(
                    Operation.patch(
                        PATH,
                        Scope.ADMIN,
                        "Changes values of the configuration (RFC 7396, RFC 6902)."))
                .takes(MERGE_PATCH, JSON_PATCH)
                .answers(Committed.class),
            resources::patch),
        new Served(
            Operation.get(PATH + "/schema", Scope.READ, "The settings as a JSON schema."),
            request -> Answer.json(ConfigurationSchema.document())),
        new Served(
            Operation.post(PATH + "/validate", Scope.READ, "All that is wrong with a text.")
                .takes(YAML)
                .upTo(ConfigTree.LIMIT_BYTES)
                .answers(Problems.class),
            resources::validate),
        new Served(
            Operation.post(PATH + "/reload", Scope.OPERATE, "Reads the file again.")
                .takes()
                .answers(Committed.class),
            resources::reload),
        new Served(
            Operation.get(PATH + "/versions", Scope.READ, "The versions, the newest first.")
                .answers(Versions.class),
            request -> Answer.json(new Versions(control.versions()))),
        new Served(
            Operation.get(PATH + "/versions/{number}", Scope.READ, "The text of a version.")
                .answersAs(YAML),
            resources::version),
        new Served(DIFF.answers(Changes.class), resources::diff),
        new Served(
            Operation.post(PATH + "/rollback", Scope.ADMIN, "Puts an older version in force again.")
                .answers(Committed.class),
            resources::rollback),
        new Served(
            Operation.get(
                    PATH + "/trial", Scope.READ, "The trial that is open; 204 if there is none.")
                .answers(TrialShown.class),
            resources::trial),
        new Served(
            Operation.post(PATH + "/trial", Scope.ADMIN, "Keeps or reverts the trial.")
                .answers(Committed.class),
            resources::decide));
  }

  private static Operation parameters(Operation change) {
    return change
        .may("comment", "Why.")
        .may("confirm", "How long it is on trial, such as 5m.")
        .may("guard", "By how much the share of failures may rise in the trial, such as 0.05.")
        .may("guardP99", "How long 99 % of requests may take in the trial, such as 800ms.")
        .may("dry_run", "true only tells what would change.");
  }

  private interface Handler {
    Answer answer(AdminRequest request) throws InvalidRequest, Refused;
  }

  private record Served(Operation operation, Handler handler) implements Resource {
    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      try {
        return handler.answer(request);
      } catch (Refused refused) {
        return problem(refused);
      }
    }
  }

  private Answer running(AdminRequest request) {
    String accept = request.field("Accept");
    boolean isText = accept != null && accept.contains("yaml");
    Answer answer =
        isText
            ? Answer.of(StatusCode.OK, YAML, control.text())
            : Answer.json(
                new Shown(
                    control.version(),
                    control.text(),
                    control.pending(),
                    TrialShown.of(control.trial(), control.version(), control.counts()),
                    LastTrial.of(control.lastTrial())));
    String tag = isText ? control.tag() : control.tag().replaceFirst("\"$", JSON_TAG);
    return answer.with("ETag", tag).with("Vary", "Accept");
  }

  private Answer commit(AdminRequest request) throws InvalidRequest, Refused {
    return change(request, running -> request.text());
  }

  private Answer patch(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode patch = JsonContent.of(request);
    String type = String.valueOf(request.field("Content-Type")).toLowerCase(Locale.ROOT);
    if (type.startsWith(JSON_PATCH)) {
      return change(request, running -> patched(running, patch));
    }
    if (!patch.isObject()) {
      throw bad("A merge patch is an object: it has the settings that change.");
    }
    return change(request, running -> MergePatch.apply(running, patch));
  }

  private static String patched(String running, JsonNode patch) throws Refused {
    try {
      return JsonPatch.apply(running, patch);
    } catch (JsonPatch.Failed failed) {
      throw new Refused(Refused.Kind.PATCH_FAILED, String.valueOf(failed.getMessage()));
    }
  }

  private Answer change(AdminRequest request, ChangeOrder.Edit edit)
      throws InvalidRequest, Refused {
    Query query = Query.of(request, CHANGE);
    if ("true".equals(query.optional("dry_run"))) {
      return committed(control.rehearse(edit));
    }
    return committed(
        control.commit(
            order(
                request,
                comment(utf8(query.optional("comment"))),
                query.optional("confirm"),
                query.optional("guard"),
                query.optional("guardP99")),
            edit));
  }

  private static ChangeOrder order(
      AdminRequest request,
      String comment,
      @Nullable String confirm,
      @Nullable String guard,
      @Nullable String guardP99)
      throws InvalidRequest {
    Duration trial = confirm(confirm);
    return new ChangeOrder(
        by(request), comment, match(request), trial, limits(guard, guardP99, trial));
  }

  /** What a change is of: whoever changes something has seen it. */
  private static String match(AdminRequest request) throws InvalidRequest {
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

  private static String by(AdminRequest request) {
    return request.identity() == null ? "" : request.identity().name();
  }

  /** A query has octets, one per character; a comment is read by people. */
  private static @Nullable String utf8(@Nullable String octets) {
    return octets == null
        ? null
        : new String(octets.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  private static String comment(@Nullable String text) throws InvalidRequest {
    String comment = text == null ? "" : text;
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

  private Answer committed(Outcome outcome) {
    return Answer.json(Committed.of(outcome)).with("ETag", outcome.tag());
  }

  private Answer validate(AdminRequest request) {
    return Answer.json(
        new Problems(control.problems(request.text()).stream().map(Wrong::of).toList()));
  }

  private Answer reload(AdminRequest request) throws InvalidRequest, Refused {
    List<Problem> problems = control.reload(match(request));
    if (!problems.isEmpty()) {
      throw new Refused(Refused.Kind.CONFIG_INVALID, "What ran goes on.", problems);
    }
    return committed(new Outcome(control.version(), List.of(), null, control.tag(), null));
  }

  private Answer version(AdminRequest request) throws InvalidRequest, Refused {
    return Answer.of(StatusCode.OK, YAML, control.text(number(request.parameter("number"))));
  }

  private Answer diff(AdminRequest request) throws InvalidRequest, Refused {
    Query query = Query.of(request, DIFF);
    int from = number(query.one("from"));
    int to = number(query.one("to"));
    String accept = request.field("Accept");
    Answer answer =
        accept != null && accept.contains("diff")
            ? Answer.of(
                StatusCode.OK,
                "text/x-diff; charset=utf-8",
                UnifiedDiff.between(control.text(from), control.text(to)))
            : Answer.json(new Changes(control.changes(from, to)));
    return answer.with("Vary", "Accept");
  }

  private static int number(String text) throws InvalidRequest {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw bad("A version is a number.");
    }
    return Integer.parseInt(text);
  }

  private Answer rollback(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = JsonContent.of(request);
    members(document, List.of("to", "comment", "confirm", "guard", "guardP99"));
    if (!document.path("to").isInt()) {
      throw bad("to must be the number of a version.");
    }
    int to = document.path("to").intValue();
    String comment = text(document, "comment");
    return committed(
        control.commit(
            order(
                request,
                comment(comment.isEmpty() ? "back to version " + to : comment),
                text(document, "confirm"),
                text(document, "guard"),
                text(document, "guardP99")),
            running -> control.text(to)));
  }

  private static String text(JsonNode document, String name) throws InvalidRequest {
    JsonNode member = document.path(name);
    if (!member.isMissingNode() && !member.isString()) {
      throw bad(name + " must be a text.");
    }
    return member.stringValue("");
  }

  private static void members(JsonNode document, List<String> known) throws InvalidRequest {
    if (!document.isObject() || !known.containsAll(document.propertyNames())) {
      throw bad("The content must be an object with " + String.join(", ", known) + ".");
    }
  }

  private Answer trial(AdminRequest request) {
    TrialShown shown = TrialShown.of(control.trial(), control.version(), control.counts());
    return shown == null ? Answer.nothing() : Answer.json(shown);
  }

  private Answer decide(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = JsonContent.of(request);
    members(document, List.of("decision"));
    return switch (document.path("decision").stringValue("")) {
      case "keep" -> committed(control.keepTrial(match(request)));
      case "revert" -> committed(control.revertTrial(match(request)));
      default -> throw bad("decision must be keep or revert.");
    };
  }

  private static InvalidRequest bad(String sentence) {
    return new InvalidRequest(Answer.problem(StatusCode.BAD_REQUEST, sentence));
  }

  private static Answer problem(Refused refused) {
    return Answer.problem(
        ProblemType.valueOf(refused.kind().name()),
        String.valueOf(refused.getMessage()),
        refused.problems().stream().map(Wrong::of).toList());
  }
}
