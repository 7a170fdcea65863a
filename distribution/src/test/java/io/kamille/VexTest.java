package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The VEX file of a release is about that release and the libraries that it has. */
class VexTest {

  private static final Path FILE = Path.of("src/package/vex.cdx.json");
  private static final Pattern LIBRARY =
      Pattern.compile("pkg:maven/[^/]+/([^@]+)@([^?]+)(?:\\?classifier=(.+))?");

  @Test
  void eachLibraryIsOnTheClassPathInThatVersion() throws IOException {
    Set<String> libraries = new TreeSet<>();
    for (JsonNode vulnerability : vex().path("vulnerabilities")) {
      for (JsonNode affected : vulnerability.path("affects")) {
        libraries.add(jar(affected.path("ref").stringValue("")));
      }
    }
    assertThat(classPath()).containsAll(libraries);
    assertThat(libraries).isNotEmpty();
  }

  @Test
  void itIsOfThisVersion() throws IOException {
    String version = vex().path("metadata").path("component").path("version").stringValue("");
    assertThat(Files.readString(Path.of("../pom.xml")))
        .contains("<revision>" + version + "</revision>");
  }

  private static JsonNode vex() throws IOException {
    return JsonMapper.builder().build().readTree(Files.readString(FILE));
  }

  private static String jar(String reference) {
    Matcher library = LIBRARY.matcher(reference);
    assertThat(library.matches()).as(reference).isTrue();
    String classifier = library.group(3) == null ? "" : "-" + library.group(3);
    return library.group(1) + "-" + library.group(2) + classifier + ".jar";
  }

  private static Set<String> classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> String.valueOf(Path.of(entry).getFileName()))
        .collect(Collectors.toSet());
  }
}
