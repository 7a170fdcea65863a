package io.kamille.launcher.version;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.ProblemType;
import io.kamille.core.setting.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why the configuration stays as it is. */
final class Refused extends InvalidRequest {

  private static final long serialVersionUID = 1;

  private final transient ProblemType type;
  private final transient List<Problem> problems;

  /**
   * What is wrong with a text, as JSON has it.
   *
   * @param file where it stands: the configuration's own, or one that it includes
   */
  record Wrong(
      String kind,
      String file,
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
          problem.file(),
          path.isEmpty() ? "#" : "#/" + path.replace("~", "~0").replace('.', '/'),
          problem.position().line(),
          problem.position().column(),
          problem.found(),
          problem.expected(),
          problem.nearest());
    }
  }

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

  /** Each problem, or else the sentence, in a line. */
  List<String> lines() {
    return problems.isEmpty()
        ? List.of(String.valueOf(getMessage()))
        : problems.stream().map(Problem::toString).toList();
  }

  /** All that is wrong with the text. */
  List<Problem> problems() {
    return problems;
  }
}
