package io.kamille;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The list of limits has all that there are, with the values of the code. */
class LimitsTest {

  private static final Path ROOT = Path.of("..");
  private static final Path LIST = Path.of("src/test/resources/limits.txt");
  private static final List<String> MODULES =
      List.of("proxy-core", "proxy-cache", "proxy-cluster", "proxy-admin", "distribution");
  private static final Set<String> WORDS =
      Set.of(
          "refused", "cut", "oldest", "dropped", "waits", "over", "closed", "everything", "size");

  /** A constant that looks like a limit. */
  private static final Pattern CONSTANT =
      Pattern.compile(
          "static final (?:int|long) ((?:[A-Z0-9]+_)*"
              + "[A-Z0-9]*(?:LIMIT|MAX|MOST|_BYTES|CAPACITY|_OCTETS|LONGEST|AT_ONCE|AT_A_TIME)"
              + "[A-Z0-9_]*)\\s*=\\s*([^;]*);");

  private static final Pattern SETTING =
      Pattern.compile("(?m)^\\| `([^`]+)` \\| [^|]*\\b(?:size|whole number)\\b[^|]*\\|");

  private static final Pattern TEST = Pattern.compile("(?m)^  void (\\w+)\\(");

  @Test
  void theListHasEveryConstantThatLooksLikeALimit() throws IOException {
    SortedSet<String> listed = new TreeSet<>();
    for (String line : Files.readAllLines(LIST)) {
      if (!line.startsWith("#") && !line.startsWith("setting ")) {
        listed.add(line.substring(0, line.lastIndexOf(": ")));
      }
    }
    assertThat(without(constants(), listed)).as("missing in limits.txt").isEmpty();
    assertThat(without(listed, constants())).as("only in limits.txt").isEmpty();
  }

  @Test
  void theListHasEverySettingOfASizeOrANumber() throws IOException {
    SortedSet<String> settings =
        SETTING
            .matcher(Files.readString(ROOT.resolve("docs/reference/settings.md")))
            .results()
            .map(found -> found.group(1))
            .collect(toCollection(TreeSet::new));
    SortedSet<String> listed =
        Files.readAllLines(LIST).stream()
            .filter(line -> line.startsWith("setting "))
            .map(line -> line.substring("setting ".length(), line.lastIndexOf(": ")))
            .collect(toCollection(TreeSet::new));
    assertThat(listed).as("settings of limits.txt").containsExactlyElementsOf(settings);
  }

  @Test
  void everyLineSaysWhatBecomesOfMore() throws IOException {
    assertThat(words()).allMatch(word -> WORDS.contains(word.split(", ", -1)[0]));
  }

  @Test
  void everyLimitHasATest() throws IOException {
    List<String> limits = words().stream().filter(word -> !word.equals("size")).toList();
    assertThat(limits).as("with a word and a test").allMatch(word -> word.contains(", "));
    Set<String> named =
        limits.stream().map(word -> word.split(", ", -1)[1]).collect(toCollection(TreeSet::new));
    assertThat(without(named, tests())).as("in limits.txt, and nowhere else").isEmpty();
  }

  /** What stands behind the value of each constant. */
  private static List<String> words() throws IOException {
    return Files.readAllLines(LIST).stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.substring(line.lastIndexOf(": ") + 2))
        .toList();
  }

  private static Set<String> tests() throws IOException {
    Set<String> found = new TreeSet<>();
    for (String module : MODULES) {
      for (String kind : List.of("src/test/java", "src/cluster/java")) {
        Path sources = ROOT.resolve(module).resolve(kind);
        if (Files.isDirectory(sources)) {
          try (Stream<Path> files = Files.walk(sources)) {
            files
                .filter(file -> file.toString().endsWith(".java"))
                .forEach(file -> testsOf(file, found));
          }
        }
      }
    }
    return found;
  }

  private static void testsOf(Path file, Set<String> found) {
    String name = file.getFileName().toString().replace(".java", "");
    try {
      TEST.matcher(Files.readString(file))
          .results()
          .forEach(test -> found.add(name + "#" + test.group(1)));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Set<String> without(Set<String> some, Set<String> others) {
    Set<String> left = new TreeSet<>(some);
    left.removeAll(others);
    return left;
  }

  private static SortedSet<String> constants() throws IOException {
    SortedSet<String> found = new TreeSet<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(file -> constantsOf(file, found));
      }
    }
    return found;
  }

  private static void constantsOf(Path file, Set<String> found) {
    String name = file.getFileName().toString().replace(".java", "");
    try {
      CONSTANT
          .matcher(Files.readString(file))
          .results()
          .map(constant -> name + "." + line(constant))
          .forEach(found::add);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String line(MatchResult constant) {
    return constant.group(1) + " = " + constant.group(2).strip().replaceAll("\\s+", " ");
  }
}
