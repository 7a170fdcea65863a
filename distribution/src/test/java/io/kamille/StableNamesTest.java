package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A name that others rely on goes with the notice that docs/stability.md promises. */
class StableNamesTest {

  /*
   * docs/reference/names.txt has the names of a release, and the code has to have each of them.
   * ./dev release adds those that are new: before a release nobody relies on them.
   * A name that ends keeps its line there, and has a row of the page until a major release takes
   * both away. The version of a format may rise before: the row then says what is still read.
   */
  private static final Path ROOT = Path.of("..");
  private static final Path LIST = ROOT.resolve("docs/reference/names.txt");
  private static final Path PAGE = ROOT.resolve("docs/stability.md");
  private static final String SECTION = "\n## Names that end\n";
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([^`]+)` \\| (\\d+\\.\\d+\\.\\d+\\S*) \\|");
  private static final Pattern REVISION = Pattern.compile("<revision>([^<]+)</revision>");

  @Test
  void theCodeHasAllNamesOfTheList() throws Exception {
    List<String> listed = Files.readAllLines(LIST);
    assertThat(listed).isSorted().doesNotHaveDuplicates();
    assertThat(troubles(listed, StableNames.all(), Files.readString(PAGE), version())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "setting cache.memory.capacity",
    "api GET /v1/status",
    "metric kamille_requests_total",
    "log access durationSeconds",
    "log audit who.id",
    "exit 78 CONFIGURATION",
    "format disk-record 1"
  })
  void eachKindOfNameIsListed(String name) throws IOException {
    assertThat(Files.readAllLines(LIST)).contains(name);
  }

  @ParameterizedTest
  @CsvSource({"setting cache.size, setting cache.room", "exit 78 CONFIGURATION, exit 79 BROKEN"})
  void aNewNameDoesNotStandForAnOldOne(String before, String now) {
    assertThat(troubles(List.of(before), Set.of(now), page(""), "1.4.0"))
        .containsExactly(
            before + " is gone (expected: a row in docs/stability.md, section Names that end)");
  }

  @Test
  void aReleaseAddsNewNamesAndDropsNone() {
    assertThat(StableNames.united(List.of("exit 1 A", "exit 3 C"), Set.of("exit 2 B", "exit 3 C")))
        .containsExactly("exit 1 A", "exit 2 B", "exit 3 C");
  }

  @ParameterizedTest
  @CsvSource({
    "metric kamille_old, 1.3.0, 2.0.0, true",
    "metric kamille_old, 1.3.0, 2.4.1, true",
    "metric kamille_old, 1.3.0, 1.4.0, false",
    "metric kamille_old, 2.0.0, 2.0.0, false",
    "metric kamille_old, 1.0.0-rc.1, 1.0.0-rc.2, true",
    "format disk-record 1, 1.4.0, 1.4.0, true"
  })
  void aNameThatIsAnnouncedGoesInTheNextMajorRelease(
      String name, String announced, String version, boolean isRight) {
    String page = page("| `" + name + "` | " + announced + " | `metric kamille_new` |");
    assertThat(troubles(List.of(name), Set.of(), page, version).isEmpty()).isEqualTo(isRight);
  }

  @Test
  void aRowWithoutTheReleaseThatAnnouncedItIsNoNotice() {
    assertThat(troubles(List.of("api GET /v1/a"), Set.of(), page("| `api GET /v1/a` | |"), "2.0.0"))
        .hasSize(1);
  }

  @Test
  void aRowIsAboutANameOfTheList() {
    assertThat(troubles(List.of(), Set.of(), page("| `api GET /v1/a` | 1.2.0 | |"), "1.2.0"))
        .containsExactly("docs/stability.md ends api GET /v1/a, which names.txt does not have");
  }

  private static String page(String row) {
    return "# Names\n"
        + SECTION
        + "\n| Name | Announced in | Instead |\n|---|---|---|\n"
        + row
        + "\n";
  }

  private static List<String> troubles(
      List<String> listed, Set<String> code, String page, String version) {
    Map<String, String> ending = ending(page);
    List<String> troubles = new ArrayList<>();
    for (String name : listed) {
      String announced = ending.remove(name);
      if (code.contains(name)) {
        continue;
      }
      if (announced == null) {
        troubles.add(
            name + " is gone (expected: a row in docs/stability.md, section Names that end)");
      } else if (!mayGo(name, announced, version)) {
        troubles.add(name + " was announced in " + announced + ": it goes in a major release");
      }
    }
    ending
        .keySet()
        .forEach(
            name ->
                troubles.add("docs/stability.md ends " + name + ", which names.txt does not have"));
    return troubles;
  }

  private static boolean mayGo(String name, String announced, String version) {
    return name.startsWith("format ")
        || version.startsWith("1.0.0-")
        || major(announced) < major(version);
  }

  private static int major(String version) {
    return Integer.parseInt(version.substring(0, version.indexOf('.')));
  }

  /** The names that the page ends, with the release that announced it. */
  private static Map<String, String> ending(String page) {
    Map<String, String> ending = new HashMap<>();
    int begin = page.indexOf(SECTION) + SECTION.length();
    assertThat(begin).as("the section Names that end").isGreaterThan(SECTION.length());
    int end = page.indexOf("\n## ", begin);
    ROW.matcher(page.substring(begin, end < 0 ? page.length() : end))
        .results()
        .forEach(row -> ending.put(row.group(1), row.group(2)));
    return ending;
  }

  private static String version() throws IOException {
    Matcher revision = REVISION.matcher(Files.readString(ROOT.resolve("pom.xml")));
    assertThat(revision.find()).isTrue();
    return revision.group(1);
  }
}
