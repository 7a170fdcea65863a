package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.JsonContent;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.admin.api.Resource;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.version.ConfigControl.Outcome;
import io.kamille.launcher.version.ConfigControl.Trial;
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
            Operation.put(PATH, Scope.ADMIN, "Puts another configuration in force.")
                .takes(YAML)
                .upTo(ConfigTree.LIMIT_BYTES)
                .may("comment", "Why.")
                .may("confirm", "How long it is on trial, such as 5m.")
                .may("dry_run", "true only tells what would change.")
                .answers(Committed.class),
            resources::commit),
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
        new Served(
            Operation.get(PATH + "/diff", Scope.READ, "What differs between two versions.")
                .must("from", "A version's number.")
                .must("to", "A version's number.")
                .answers(Changes.class),
            resources::diff),
        new Served(
            Operation.post(PATH + "/rollback", Scope.ADMIN, "Puts an older version in force again.")
                .answers(Committed.class),
            resources::rollback),
        new Served(
            Operation.get(PATH + "/trial", Scope.READ, "The trial that is open.")
                .answers(TrialShown.class),
            resources::trial),
        new Served(
            Operation.post(PATH + "/trial", Scope.ADMIN, "Keeps or reverts the trial.")
                .answers(Committed.class),
            resources::decide));
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

  private record Shown(
      int version, String text, List<SettingChange> pendingRestart, @Nullable TrialShown trial) {}

  private record TrialShown(int base, String by, String comment, String deadline) {
    static @Nullable TrialShown of(@Nullable Trial trial, int base) {
      return trial == null
          ? null
          : new TrialShown(base, trial.by(), trial.comment(), trial.deadline().toString());
    }
  }

  private record Committed(
      int version,
      List<SettingChange> changes,
      List<SettingChange> pendingRestart,
      @Nullable String trialDeadline) {}

  private record Versions(List<ConfigVersion> versions) {}

  private record Changes(List<SettingChange> changes) {}

  private record Problems(List<Wrong> problems) {}

  private record Wrong(
      String kind,
      String pointer,
      int line,
      int column,
      String found,
      String expected,
      @Nullable String nearest) {

    static Wrong of(Problem problem) {
      String path = problem.path().replace("[", ".").replace("]", "");
      return new Wrong(
          problem.kind().name(),
          path.isEmpty() ? "#" : "#/" + path.replace("~", "~0").replace('.', '/'),
          problem.position().line(),
          problem.position().column(),
          problem.found(),
          problem.expected(),
          problem.nearest());
    }
  }

  private Answer running(AdminRequest request) {
    String accept = request.field("Accept");
    Answer answer =
        accept != null && accept.contains("yaml")
            ? Answer.of(StatusCode.OK, YAML, control.text())
            : Answer.json(
                new Shown(
                    control.version(),
                    control.text(),
                    control.pending(),
                    TrialShown.of(control.trial(), control.version())));
    return answer.with("ETag", control.tag());
  }

  private Answer commit(AdminRequest request) throws InvalidRequest, Refused {
    Operation operation = Operation.put(PATH, Scope.ADMIN, "");
    Query query =
        Query.of(request, operation.may("comment", "").may("confirm", "").may("dry_run", ""));
    if ("true".equals(query.optional("dry_run"))) {
      return committed(control.rehearse(request.text()));
    }
    String expected = request.field("If-Match");
    if (expected == null) {
      return Answer.problem(
          StatusCode.PRECONDITION_REQUIRED,
          "Say by If-Match which version this is a change of: the ETag of GET.");
    }
    if (!expected.strip().equals("*") && !expected.strip().equals(control.tag())) {
      throw new Refused(Refused.Kind.VERSION_STALE, "Another version runs by now.");
    }
    return committed(
        control.commit(
            request.text(),
            by(request),
            comment(query.optional("comment")),
            confirm(query.optional("confirm"))));
  }

  private static String by(AdminRequest request) {
    return request.identity() == null ? "" : request.identity().name();
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
    return Answer.json(
            new Committed(
                outcome.version(),
                outcome.changes(),
                outcome.changes().stream().filter(SettingChange::needsRestart).toList(),
                outcome.trialDeadline() == null ? null : outcome.trialDeadline().toString()))
        .with("ETag", outcome.tag());
  }

  private Answer validate(AdminRequest request) {
    return Answer.json(
        new Problems(control.problems(request.text()).stream().map(Wrong::of).toList()));
  }

  private Answer reload(AdminRequest request) throws Refused {
    List<Problem> problems = control.reload();
    if (!problems.isEmpty()) {
      throw new Refused(Refused.Kind.CONFIG_INVALID, "What ran goes on.", problems);
    }
    return committed(new Outcome(control.version(), List.of(), null, control.tag()));
  }

  private Answer version(AdminRequest request) throws InvalidRequest, Refused {
    return Answer.of(StatusCode.OK, YAML, control.text(number(request.parameter("number"))));
  }

  private Answer diff(AdminRequest request) throws InvalidRequest, Refused {
    Query query =
        Query.of(
            request, Operation.get(PATH + "/diff", Scope.READ, "").must("from", "").must("to", ""));
    return Answer.json(
        new Changes(control.changes(number(query.one("from")), number(query.one("to")))));
  }

  private static int number(String text) throws InvalidRequest {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw bad("A version is a number.");
    }
    return Integer.parseInt(text);
  }

  private Answer rollback(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = JsonContent.of(request);
    members(document, List.of("to", "comment", "confirm"));
    if (!document.path("to").isInt()) {
      throw bad("to must be the number of a version.");
    }
    int to = document.path("to").intValue();
    return committed(
        control.commit(
            control.text(to),
            by(request),
            comment(document.path("comment").stringValue("back to version " + to)),
            confirm(document.path("confirm").stringValue(""))));
  }

  private static void members(JsonNode document, List<String> known) throws InvalidRequest {
    if (!document.isObject() || !known.containsAll(document.propertyNames())) {
      throw bad("The content must be an object with " + String.join(", ", known) + ".");
    }
  }

  private Answer trial(AdminRequest request) {
    TrialShown shown = TrialShown.of(control.trial(), control.version());
    return shown == null ? Answer.nothing() : Answer.json(shown);
  }

  private Answer decide(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = JsonContent.of(request);
    members(document, List.of("decision"));
    return switch (document.path("decision").stringValue("")) {
      case "keep" -> committed(control.keepTrial());
      case "revert" -> committed(control.revertTrial());
      default -> throw bad("decision must be keep or revert.");
    };
  }

  private static InvalidRequest bad(String sentence) {
    return new InvalidRequest(Answer.problem(StatusCode.BAD_REQUEST, sentence));
  }

  private static Answer problem(Refused refused) {
    int status =
        switch (refused.kind()) {
          case CONFIG_INVALID, NEEDS_RESTART -> StatusCode.UNPROCESSABLE_CONTENT;
          case VERSION_STALE -> StatusCode.PRECONDITION_FAILED;
          case FILE_CHANGED, TRIAL_OPEN, WRITES_OFF -> StatusCode.CONFLICT;
          case FILE_UNWRITABLE -> StatusCode.SERVICE_UNAVAILABLE;
          case NO_TRIAL -> StatusCode.NOT_FOUND;
          case VERSION_GONE -> 410;
          case NOT_PREPARED -> StatusCode.INTERNAL_SERVER_ERROR;
        };
    String name = refused.kind().name().toLowerCase(Locale.ROOT).replace('_', '-');
    String title =
        refused.kind() == Refused.Kind.CONFIG_INVALID
            ? "The configuration has problems"
            : "The configuration was not changed";
    return Answer.problem(
        status,
        name,
        title,
        String.valueOf(refused.getMessage()),
        refused.problems().stream().map(Wrong::of).toList());
  }
}
