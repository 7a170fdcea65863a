package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Resource;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.patch.ThreeWay;
import io.kamille.launcher.version.ConfigControl.Outcome;
import io.kamille.launcher.version.ConfigDocuments.Committed;
import io.kamille.launcher.version.Refused.Kind;
import java.time.InstantSource;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** {@code /v1/config/drafts}: who may not change the configuration proposes a change. */
final class DraftResources {

  private static final String PATH = "/v1/config/drafts";
  private static final String YAML = "application/yaml";

  private static final Operation CREATE =
      Operation.post(PATH, Scope.OPERATE, "Proposes a configuration; it is checked.")
          .takes(YAML)
          .upTo(ConfigTree.LIMIT_BYTES)
          .may("comment", "Why.")
          .answers(Shown.class);

  private final ConfigControl control;
  private final DraftStore drafts;
  private final InstantSource clock;

  private DraftResources(ConfigControl control, DraftStore drafts, InstantSource clock) {
    this.control = control;
    this.drafts = drafts;
    this.clock = clock;
  }

  static List<Resource> of(ConfigControl control, DraftStore drafts, InstantSource clock) {
    var resources = new DraftResources(control, drafts, clock);
    return List.of(
        new Served(
            Operation.get(PATH, Scope.READ, "The drafts, the newest first.").answers(Listed.class),
            request ->
                Answer.json(new Listed(drafts.all().stream().map(resources::shown).toList()))),
        new Served(CREATE, resources::create),
        new Served(
            Operation.get(
                    PATH + "/{id}",
                    Scope.READ,
                    "The text of a draft, or its difference from what runs (text/x-diff).")
                .answersAs(YAML),
            resources::text),
        new Served(
            Operation.put(PATH + "/{id}", Scope.OPERATE, "Replaces the text of a draft.")
                .takes(YAML)
                .upTo(ConfigTree.LIMIT_BYTES)
                .answers(Shown.class),
            resources::replace),
        new Served(
            Operation.delete(PATH + "/{id}", Scope.OPERATE, "Removes a draft."), resources::remove),
        new Served(
            Operation.post(PATH + "/{id}/commit", Scope.ADMIN, "Puts a draft in force.")
                .answers(Committed.class),
            resources::commit));
  }

  record Listed(List<Shown> drafts) {}

  /**
   * @param stale whether another text runs than the one it was made of
   */
  record Shown(int id, int base, String time, String by, String comment, boolean stale) {}

  private Shown shown(Draft draft) {
    boolean isStale;
    try {
      isStale = !drafts.base(draft.id()).equals(control.text());
    } catch (Refused unreadable) {
      isStale = true;
    }
    return new Shown(
        draft.id(), draft.base(), draft.time().toString(), draft.by(), draft.comment(), isStale);
  }

  private Answer create(AdminRequest request) throws InvalidRequest, Refused {
    String comment = Orders.comment(request, CREATE);
    Draft draft =
        new Draft(drafts.next(), control.version(), clock.instant(), Orders.by(request), comment);
    return kept(StatusCode.CREATED, draft, control.text(), request.text())
        .with("Location", PATH + "/" + draft.id());
  }

  private Answer kept(int status, Draft draft, String base, String text) throws Refused {
    List<Problem> problems = control.problems(text);
    if (!problems.isEmpty()) {
      throw new Refused(Kind.CONFIG_INVALID, "The draft was not kept.", problems);
    }
    drafts.put(draft, base, text);
    return Answer.json(status, shown(draft)).with("ETag", tag(text));
  }

  private static String tag(String text) {
    return "\"" + ConfigControl.digest(text) + "\"";
  }

  private static int id(AdminRequest request) throws InvalidRequest {
    return Orders.number(request.parameter("id"), "A draft is a number.");
  }

  private Answer text(AdminRequest request) throws InvalidRequest, Refused {
    String text = drafts.text(id(request));
    String accept = request.field("Accept");
    Answer answer =
        accept != null && accept.contains("diff")
            ? Answer.of(
                StatusCode.OK,
                "text/x-diff; charset=utf-8",
                UnifiedDiff.between(control.text(), text))
            : Answer.of(StatusCode.OK, YAML, text);
    return answer.with("ETag", tag(text)).with("Vary", "Accept");
  }

  /** Who changes or commits a draft has seen it. */
  private String matched(AdminRequest request) throws InvalidRequest, Refused {
    String match = Orders.match(request);
    String text = drafts.text(id(request));
    if (!ChangeOrder.matches(match, tag(text))) {
      throw new Refused(Kind.VERSION_STALE, "Somebody changed the draft.");
    }
    return text;
  }

  private Answer replace(AdminRequest request) throws InvalidRequest, Refused {
    matched(request);
    Draft old = drafts.find(id(request));
    String by = Orders.by(request);
    return kept(
        StatusCode.OK,
        new Draft(old.id(), old.base(), clock.instant(), by, old.comment()),
        drafts.base(old.id()),
        request.text());
  }

  private Answer remove(AdminRequest request) throws InvalidRequest, Refused {
    drafts.remove(id(request));
    return Answer.nothing();
  }

  private Answer commit(AdminRequest request) throws InvalidRequest, Refused {
    JsonNode document = Json.content(request);
    Orders.members(document, List.of("comment", "confirm", "guard", "guardP99", "rebase"));
    JsonNode rebase = document.path("rebase");
    if (!rebase.isMissingNode() && !rebase.isBoolean()) {
      throw Orders.bad("rebase must be true or false.");
    }
    String text = matched(request);
    Draft draft = drafts.find(id(request));
    String base = drafts.base(draft.id());
    String comment = Orders.text(document, "comment");
    boolean isRebased = rebase.booleanValue(false);
    ChangeOrder order =
        Orders.of(
            Orders.by(request),
            Orders.line(comment.isEmpty() ? ofDraft(draft) : comment),
            null,
            Orders.text(document, "confirm"),
            Orders.text(document, "guard"),
            Orders.text(document, "guardP99"));
    Outcome outcome = control.commit(order, running -> next(base, text, running, isRebased));
    drafts.remove(draft.id());
    return Orders.committed(outcome);
  }

  private static String ofDraft(Draft draft) {
    String comment = draft.comment().isEmpty() ? "" : ": " + draft.comment();
    String line = "draft " + draft.id() + " by " + draft.by() + comment;
    return line.substring(0, Math.min(line.length(), Orders.COMMENT_LIMIT));
  }

  private static String next(String base, String draft, String running, boolean isRebased)
      throws Refused {
    if (running.equals(base)) {
      return draft;
    }
    ThreeWay.Merged merged = ThreeWay.of(base, draft, running);
    if (!merged.conflicts().isEmpty()) {
      throw new Refused(
          Kind.DRAFT_STALE,
          "The draft and what runs both changed " + String.join(", ", merged.conflicts()) + ".");
    }
    if (!isRebased) {
      throw new Refused(
          Kind.DRAFT_STALE, "Another version runs than the draft's base. Commit it with rebase.");
    }
    return merged.text();
  }
}
