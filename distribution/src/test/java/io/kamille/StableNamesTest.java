package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Identity;
import io.kamille.core.loop.WallClock;
import io.kamille.launcher.cli.ExitCode;
import io.kamille.launcher.cli.ReferencePages;
import io.kamille.launcher.cli.ReferencePages.Declared;
import io.kamille.launcher.configuration.SettingsReference;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A name that others rely on goes with the notice that docs/stability.md promises. */
class StableNamesTest {

  /*
   * docs/reference/names.txt has the names of this release, and the code has to have each of them.
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
  private static final Pattern ADDED_MEMBER =
      Pattern.compile("(?m)^ +[A-Z_]+\\(\"[^\"]+\", \"([^\"]+)\"\\)");
  private static final Pattern FORMAT =
      Pattern.compile(" static final (?:byte|short|int) (?:VERSION|FORMAT|FORM|LEVEL) = (\\d+);");

  /** The class that has the version of each format. */
  private static final Map<String, String> FORMATS =
      Map.of(
          "RecordHeader", "disk-record",
          "PurgeJournal", "purge-journal",
          "StateMessage", "upgrade-state",
          "Report", "cluster-level");

  @TempDir private Path directory;

  @Test
  void theListHasAllNamesOfTheCodeAndNoOthers() throws Exception {
    List<String> listed = Files.readAllLines(LIST);
    assertThat(listed).isSorted().doesNotHaveDuplicates();
    assertThat(troubles(listed, names(), Files.readString(PAGE), version())).isEmpty();
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
  void aNewNameInThePlaceOfAnOldOneIsTwoTroubles(String before, String now) {
    assertThat(troubles(List.of(before), Set.of(now), page(""), "1.4.0"))
        .containsExactly(
            before + " is gone (expected: a row in docs/stability.md, section Names that end)",
            "docs/reference/names.txt lacks the line: " + now);
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
    code.stream()
        .filter(name -> !listed.contains(name))
        .sorted()
        .forEach(name -> troubles.add("docs/reference/names.txt lacks the line: " + name));
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

  // The names of the code

  private Set<String> names() throws Exception {
    Set<String> names = new TreeSet<>();
    SettingsReference.names().forEach(name -> names.add("setting " + name));
    Declared declared = ReferencePages.declared();
    declared.metrics().forEach(metric -> names.add("metric " + metric.name()));
    declared
        .openApi()
        .path("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .propertyNames()
                    .forEach(
                        method ->
                            names.add(
                                "api " + method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
    accessLog().forEach(member -> names.add("log access " + member));
    auditLog().forEach(member -> names.add("log audit " + member));
    for (Field code : ExitCode.class.getFields()) {
      names.add("exit " + code.getInt(null) + " " + code.getName());
    }
    names.addAll(formats());
    return names;
  }

  private static Set<String> accessLog() throws IOException {
    Set<String> members = PagesTest.membersOfTheAccessLog();
    Path added = ROOT.resolve("proxy-core/src/main/java/io/kamille/core/log/LoggedField.java");
    ADDED_MEMBER
        .matcher(Files.readString(added))
        .results()
        .map(member -> member.group(1))
        .forEach(member -> members.add(member.endsWith(":") ? member + "NAME" : member));
    return members;
  }

  /** Those of a line that has all. */
  private Set<String> auditLog() throws IOException {
    Set<String> members = new TreeSet<>();
    try (AuditLog log = AuditLog.open(directory.resolve("audit.jsonl"), WallClock.system())) {
      log.append(Identity.local(), "PUT /v1/a", "/v1/a", "{}", "200");
      log.last(1).getFirst().forEach((name, value) -> members.addAll(members(name, value)));
    }
    return members;
  }

  private static List<String> members(String name, Object value) {
    return value instanceof Map<?, ?> inner
        ? inner.keySet().stream().map(member -> name + "." + member).toList()
        : List.of(name);
  }

  private static Set<String> formats() throws IOException {
    Set<String> formats = new TreeSet<>();
    try (Stream<Path> sources = PagesTest.sources()) {
      for (Path source : sources.filter(file -> file.toString().contains("/src/main/")).toList()) {
        String type = String.valueOf(source.getFileName()).replace(".java", "");
        FORMAT
            .matcher(Files.readString(source))
            .results()
            .forEach(
                version ->
                    formats.add(
                        "format " + FORMATS.getOrDefault(type, type) + " " + version.group(1)));
      }
    }
    return formats;
  }
}
