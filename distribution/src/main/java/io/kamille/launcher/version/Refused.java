package io.kamille.launcher.version;

import io.kamille.core.setting.Problem;
import java.util.List;

/** Why the configuration stays as it is. */
final class Refused extends Exception {

  private static final long serialVersionUID = 1;

  /** What stands in the way; its name is that of the problem's page. */
  enum Kind {
    /** The text has problems. */
    CONFIG_INVALID,
    /** A patch does not fit the text. */
    PATCH_FAILED,
    /** Another version runs than the one the change was made for. */
    VERSION_STALE,
    /** Somebody changed the file since it was read. */
    FILE_CHANGED,
    /** The file cannot be written. */
    FILE_UNWRITABLE,
    /** A trial is open. */
    TRIAL_OPEN,
    /** No trial is open. */
    NO_TRIAL,
    /** A trial cannot have what waits for a restart. */
    NEEDS_RESTART,
    /** There is no such draft. */
    NO_DRAFT,
    /** No further draft is kept. */
    TOO_MANY_DRAFTS,
    /** Another version runs than the one a draft was made of. */
    DRAFT_STALE,
    /** The version is not kept. */
    VERSION_GONE,
    /** What the configuration needs could not be made. */
    NOT_PREPARED,
    /** {@code admin.config-writes} is off. */
    WRITES_OFF
  }

  private final transient Kind kind;
  private final transient List<Problem> problems;

  Refused(Kind kind, String sentence) {
    this(kind, sentence, List.of());
  }

  Refused(Kind kind, String sentence, List<Problem> problems) {
    super(sentence, null, false, false);
    this.kind = kind;
    this.problems = problems;
  }

  Kind kind() {
    return kind;
  }

  /** All that is wrong with the text. */
  List<Problem> problems() {
    return problems;
  }
}
