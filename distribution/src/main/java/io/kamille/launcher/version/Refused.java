package io.kamille.launcher.version;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.ProblemType;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.version.ConfigDocuments.Wrong;
import java.util.List;

/** Why the configuration stays as it is. */
final class Refused extends InvalidRequest {

  private static final long serialVersionUID = 1;

  private final transient ProblemType type;
  private final transient List<Problem> problems;

  Refused(ProblemType type, String sentence) {
    this(type, sentence, List.of());
  }

  Refused(ProblemType type, String sentence, List<Problem> problems) {
    super(sentence, Answer.problem(type, sentence, problems.stream().map(Wrong::of).toList()));
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
