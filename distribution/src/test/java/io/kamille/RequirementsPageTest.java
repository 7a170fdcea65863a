package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page that lists what RFC 9111 demands says nothing about us that is not there. */
class RequirementsPageTest {

  private static final Path ROOT = Path.of("..");
  private static final Path PAGE = ROOT.resolve(Path.of("docs", "reference", "rfc9111.md"));
  private static final List<String> MODULES = List.of("proxy-core", "proxy-cache", "distribution");
  private static final Pattern NAME = Pattern.compile("`([A-Za-z0-9]+)`");
  private static final Pattern METHOD = Pattern.compile("`([A-Za-z0-9]+)\\.([A-Za-z0-9_]+)`");

  private final Map<String, String> mainSources = sources("main");
  private final Map<String, String> testSources = sources("test");

  @Test
  void everyRequirementIsMetOrDoesNotApply() throws IOException {
    forEachRow(row -> assertThat(row.get(5)).as("state of %s", row).matches("(met|not applic).*"));
  }

  @Test
  void everyClassNamedExists() throws IOException {
    forEachRow(
        row ->
            assertThat(NAME.matcher(row.get(3)).results().map(name -> name.group(1)).toList())
                .as("classes of %s", row)
                .isNotEmpty()
                .allMatch(mainSources::containsKey));
  }

  @Test
  void everyTestNamedExists() throws IOException {
    forEachRow(
        row ->
            assertThat(METHOD.matcher(row.get(4)).results().toList())
                .as("tests of %s", row)
                .isNotEmpty()
                .allSatisfy(this::assertIsTest));
  }

  private void assertIsTest(MatchResult test) {
    String source = testSources.getOrDefault(test.group(1), "");
    assertThat(source).as(test.group(1)).isNotEmpty();
    assertThat(source.contains("void " + test.group(2) + "(")).as(test.group()).isTrue();
  }

  /** The cells of each row that names a section. */
  private static void forEachRow(Consumer<List<String>> check) throws IOException {
    List<List<String>> rows =
        Files.readAllLines(PAGE).stream()
            .filter(line -> line.matches("\\| (§|RFC |draft-).*"))
            .map(line -> Stream.of(line.substring(1).split("\\|", -1)).map(String::strip).toList())
            .toList();
    assertThat(rows).hasSizeGreaterThan(60).allMatch(row -> row.size() == 7);
    rows.forEach(check);
  }

  /** Text by simple class name. */
  private static Map<String, String> sources(String kind) {
    Map<String, String> sources = new TreeMap<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(Path.of(module, "src", kind, "java")))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(file -> sources.put(simpleName(file), read(file)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return sources;
  }

  private static String simpleName(Path file) {
    String name = String.valueOf(file.getFileName());
    return name.substring(0, name.length() - ".java".length());
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
