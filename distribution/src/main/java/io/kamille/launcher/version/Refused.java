package io.kamille.launcher.version;

import io.kamille.admin.api.ProblemType;
import io.kamille.core.setting.Problem;
import java.util.List;

/** Why the configuration stays as it is. */
final class Refused extends Exception {

  private static final long serialVersionUID = 1;

  private final transient ProblemType type;
  private final transient List<Problem> problems;

  Refused(ProblemType type, String sentence) {
    this(type, sentence, List.of());
  }

  Refused(ProblemType type, String sentence, List<Problem> problems) {
    super(sentence, null, false, false);
    this.type = type;
    this.problems = problems;
  }

  ProblemType type() {
    return type;
  }

  /** All that is wrong with the text. */
  List<Problem> problems() {
    return problems;
  }
}
