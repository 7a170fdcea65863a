package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.ProblemType;
import io.kamille.admin.api.Query;
import io.kamille.admin.api.Resource;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.configuration.ConfigurationSchema;
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
import java.util.List;
import tools.jackson.databind.JsonNode;

/** {@code /v1/config}: what runs, changes, trials, and the way back. */
public final class ConfigResources {

  private static final String PATH = "/v1/config";
  private static final String YAML = "application/yaml";

  private static final String MERGE_PATCH = "application/merge-patch+json";

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
                        PATH, Scope.ADMIN, "Changes values of the configuration (RFC 7396)."))
                .takes(MERGE_PATCH)
                .answers(Committed.class),
            resources::patch),
        new Served(
            Operation.get(PATH + "/schema", Scope.READ, "The settings as a JSON schema."),
            request -> Answer.json(ConfigurationSchema.document())),
        new Served(
            Operation.post(PATH + "/validate", Scope.OPERATE, "All that is wrong with a text.")
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
    String tag = isText ? control.tag() : control.tag().replaceFirst("\"$", Orders.JSON_TAG);
    return answer.with("ETag", tag).with("Vary", "Accept");
  }

  private Answer commit(AdminRequest request) throws InvalidRequest, Refused {
    return change(request, running -> request.text());
  }

  private Answer patch(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode patch = Json.content(request);
    if (!patch.isObject()) {
      throw Orders.bad("A merge patch is an object: it has the settings that change.");
    }
    return change(request, running -> MergePatch.apply(running, patch));
  }

  private Answer change(AdminRequest request, ChangeOrder.Edit edit)
      throws InvalidRequest, Refused {
    Query query = Query.of(request, CHANGE);
    if ("true".equals(query.optional("dry_run"))) {
      return Orders.committed(control.rehearse(edit));
    }
    return Orders.committed(
        control.commit(
            Orders.of(
                Orders.by(request),
                Orders.comment(request, CHANGE),
                Orders.match(request),
                query.optional("confirm"),
                query.optional("guard"),
                query.optional("guardP99")),
            edit));
  }

  private Answer validate(AdminRequest request) {
    return Answer.json(
        new Problems(control.problems(request.text()).stream().map(Wrong::of).toList()));
  }

  private Answer reload(AdminRequest request) throws InvalidRequest, Refused {
    List<Problem> problems = control.reload(Orders.match(request));
    if (!problems.isEmpty()) {
      throw new Refused(ProblemType.CONFIG_INVALID, "What ran goes on.", problems);
    }
    return Orders.committed(new Outcome(control.version(), List.of(), null, control.tag(), null));
  }

  private Answer version(AdminRequest request) throws InvalidRequest, Refused {
    return Answer.of(StatusCode.OK, YAML, control.text(version(request.parameter("number"))));
  }

  private Answer diff(AdminRequest request) throws InvalidRequest, Refused {
    Query query = Query.of(request, DIFF);
    int from = version(query.one("from"));
    int to = version(query.one("to"));
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

  private static int version(String text) throws InvalidRequest {
    return Orders.number(text, "A version is a number.");
  }

  private Answer rollback(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = Json.content(request);
    Orders.members(document, List.of("to", "comment", "confirm", "guard", "guardP99"));
    if (!document.path("to").isInt()) {
      throw Orders.bad("to must be the number of a version.");
    }
    int to = document.path("to").intValue();
    String comment = Orders.text(document, "comment");
    return Orders.committed(
        control.commit(
            Orders.of(
                Orders.by(request),
                Orders.line(comment.isEmpty() ? "back to version " + to : comment),
                Orders.match(request),
                Orders.text(document, "confirm"),
                Orders.text(document, "guard"),
                Orders.text(document, "guardP99")),
            running -> control.text(to)));
  }

  private Answer trial(AdminRequest request) {
    TrialShown shown = TrialShown.of(control.trial(), control.version(), control.counts());
    return shown == null ? Answer.nothing() : Answer.json(shown);
  }

  private Answer decide(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = Json.content(request);
    Orders.members(document, List.of("decision"));
    return switch (document.path("decision").stringValue("")) {
      case "keep" -> Orders.committed(control.keepTrial(Orders.match(request)));
      case "revert" -> Orders.committed(control.revertTrial(Orders.match(request)));
      default -> throw Orders.bad("decision must be keep or revert.");
    };
  }
}
