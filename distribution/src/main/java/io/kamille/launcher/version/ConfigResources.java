package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Query;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.launcher.configuration.ConfigurationSchema;
import io.kamille.launcher.version.ConfigControl.Outcome;
import io.kamille.launcher.version.ConfigDocuments.Changes;
import io.kamille.launcher.version.ConfigDocuments.Problems;
import io.kamille.launcher.version.ConfigDocuments.Shown;
import io.kamille.launcher.version.ConfigDocuments.TrialShown;
import io.kamille.launcher.version.ConfigDocuments.Versions;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code /v1/config}: what runs, changes, trials, and the way back.
 *
 * @param shared makes changes at all nodes; null if this node has its own configuration
 */
public record ConfigResources(ConfigControl control, @Nullable SharedConfig shared) {

  private static final String PATH = "/v1/config";
  private static final String YAML = "application/yaml";
  private static final String EXPECTED_BACK =
      "The content must be an object with to, the number of a version, and perhaps comment,"
          + " confirm, guard and guardP99, all strings.";
  private static final String EXPECTED_DECISION = "decision must be keep or revert.";

  /** All of them. */
  public List<Operation> operations() {
    return List.of(
        Operation.get(PATH, Scope.READ, "The configuration that runs, as YAML or JSON.")
            .answers(Shown.class)
            .by(this::running),
        parameters(Operation.put(PATH, Scope.ADMIN, "Puts another configuration in force."))
            .takes(YAML)
            .upTo(ConfigTree.LIMIT_BYTES)
            .answers(Outcome.class)
            .by(this::change),
        Operation.get(PATH + "/schema", Scope.READ, "The settings as a JSON schema.")
            .by(() -> Answer.json(ConfigurationSchema.document())),
        Operation.post(PATH + "/validate", Scope.OPERATE, "All that is wrong with a text.")
            .takes(YAML)
            .upTo(ConfigTree.LIMIT_BYTES)
            .answers(Problems.class)
            .by((request, _) -> validate(request.text())),
        Operation.post(PATH + "/reload", Scope.OPERATE, "Reads the file again.")
            .takes()
            .answers(Outcome.class)
            .by((request, _) -> control.reload(ChangeOrder.match(request)).answer()),
        Operation.get(PATH + "/versions", Scope.READ, "The versions, the newest first.")
            .answers(Versions.class)
            .by(() -> Answer.json(new Versions(control.versions()))),
        Operation.get(PATH + "/versions/{number}", Scope.READ, "The text of a version.")
            .answersAs(YAML)
            .by((request, _) -> yaml(control.text(version(request.parameter("number"))))),
        Operation.get(
                PATH + "/diff",
                Scope.READ,
                "The difference between two versions, as JSON or as a unified diff (text/x-diff).")
            .must("from", "A version's number.")
            .must("to", "A version's number.")
            .answers(Changes.class)
            .by(this::diff),
        Operation.post(PATH + "/rollback", Scope.ADMIN, "Puts an older version in force again.")
            .answers(Outcome.class)
            .by(this::rollback),
        Operation.get(PATH + "/trial", Scope.READ, "The trial that is open; 204 if there is none.")
            .answers(TrialShown.class)
            .by(this::trial),
        Operation.post(PATH + "/trial", Scope.ADMIN, "Keeps or reverts the trial.")
            .answers(Outcome.class)
            .by(this::decide));
  }

  private static Operation parameters(Operation change) {
    return change
        .may("comment", "Why.")
        .may("confirm", "How long it is on trial, such as 5m.")
        .may("guard", "By how much the share of failures may rise in the trial, such as 0.05.")
        .may("guardP99", "How long 99 % of requests may take in the trial, such as 800ms.")
        .may("dry_run", "true only tells what would change.");
  }

  private static Answer yaml(String text) {
    return Answer.of(StatusCode.OK, YAML, text);
  }

  private Answer running(AdminRequest request, Query query) {
    String accept = request.field("Accept");
    boolean isText = accept != null && accept.contains("yaml");
    Answer answer =
        isText
            ? yaml(control.text())
            : Answer.json(
                new Shown(
                    control.file().toString(),
                    control.version(),
                    control.text(),
                    control.pending(),
                    TrialShown.of(control.trial(), control.version(), control.counts()),
                    control.lastTrial()));
    String tag = isText ? control.tag() : control.tag().replaceFirst("\"$", ChangeOrder.JSON_TAG);
    return answer.with("ETag", tag).with("Vary", "Accept");
  }

  private Answer change(AdminRequest request, Query query) throws InvalidRequest {
    String next = request.text();
    if ("true".equals(query.optional("dry_run"))) {
      return control.rehearse(next).answer();
    }
    ChangeOrder order =
        ChangeOrder.of(
            request,
            comment(query),
            query.optional("confirm"),
            query.optional("guard"),
            query.optional("guardP99"));
    return commit(order, next);
  }

  private Answer commit(ChangeOrder order, String next) throws Refused {
    SharedConfig nodes = shared;
    if (nodes == null) {
      return control.commit(order, next).answer();
    }
    return Answer.later(
        () -> {
          try {
            return nodes.commit(order, next);
          } catch (Refused why) {
            return why.answer();
          }
        });
  }

  private Answer end(AdminRequest request, String decision) throws InvalidRequest {
    String match = ChangeOrder.match(request);
    SharedConfig nodes = shared;
    if (nodes == null) {
      return (decision.equals("keep") ? control.keepTrial(match) : control.revertTrial(match))
          .answer();
    }
    return Answer.later(() -> nodes.end(decision));
  }

  /** In UTF-8: a query has octets, one per character. */
  private static String comment(Query query) throws InvalidRequest {
    String octets = query.optional("comment");
    return octets == null
        ? ""
        : new String(octets.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  private Answer validate(String text) {
    return Answer.json(
        new Problems(control.problems(text).stream().map(Refused.Wrong::of).toList()));
  }

  private Answer diff(AdminRequest request, Query query) throws InvalidRequest {
    int from = version(query.one("from"));
    int to = version(query.one("to"));
    String accept = request.field("Accept");
    Answer answer =
        accept != null && accept.contains("diff")
            ? Answer.of(
                StatusCode.OK,
                "text/x-diff; charset=utf-8",
                TextDiff.between(control.text(from), control.text(to)))
            : Answer.json(new Changes(control.changes(from, to)));
    return answer.with("Vary", "Accept");
  }

  private static int version(String text) throws InvalidRequest {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw new InvalidRequest("A version is a number.");
    }
    return Integer.parseInt(text);
  }

  private record Back(
      @Nullable Integer to,
      @Nullable String comment,
      @Nullable String confirm,
      @Nullable String guard,
      @Nullable String guardP99) {}

  private Answer rollback(AdminRequest request, Query query) throws InvalidRequest {
    Back back = Json.content(request, Back.class, EXPECTED_BACK);
    if (back.to == null) {
      throw new InvalidRequest(EXPECTED_BACK);
    }
    String said = Objects.requireNonNullElse(back.comment, "");
    String comment = said.isEmpty() ? "back to version " + back.to : said;
    ChangeOrder order = ChangeOrder.of(request, comment, back.confirm, back.guard, back.guardP99);
    return commit(order, control.text(back.to));
  }

  private Answer trial() {
    TrialShown shown = TrialShown.of(control.trial(), control.version(), control.counts());
    return shown == null ? Answer.nothing() : Answer.json(shown);
  }

  private record Decision(String decision) {}

  private Answer decide(AdminRequest request, Query query) throws InvalidRequest {
    String decision = Json.content(request, Decision.class, EXPECTED_DECISION).decision;
    return switch (decision) {
      case "keep", "revert" -> end(request, decision);
      default -> throw new InvalidRequest(EXPECTED_DECISION);
    };
  }
}
