package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.OriginSettings;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which origins a file names, and what it takes to change that. */
class OriginFileTest {

  private static final String ONE = "origins: ['http://10.0.0.1:8080']\n";

  @TempDir private Path directory;
  private Path path;
  private OriginFile file;

  @BeforeEach
  void open() {
    path = directory.resolve("app.yaml");
    file = new OriginFile("app", path, OriginProtocol.AUTO);
  }

  @Test
  void originsStandThereAsInTheConfiguration() throws IOException {
    refresh("origins:\n- http://10.0.0.1\n- {url: 'https://b.test', weight: 3, backup: on}\n");
    assertThat(file.problems()).isEmpty();
    assertThat(file.origins())
        .extracting(origin -> origin.url() + " " + origin.weight() + " " + origin.backup())
        .containsExactly("http://10.0.0.1 1 false", "https://b.test 3 true");
  }

  @Test
  void aFileThatIsMissingAtTheStartNamesNoneUntilItIsThere() throws IOException {
    file.refresh(0);
    assertThat(file.origins()).isEmpty();
    assertThat(file.problems())
        .containsExactly(path + ": found no file of this name, expected a file that can be read");
    refresh(ONE);
    assertThat(urls()).containsExactly("http://10.0.0.1:8080");
    assertThat(file.problems()).isEmpty();
  }

  @Test
  void aFileThatIsGoneOrEmptiedOrGarbageChangesNothing() throws IOException {
    refresh(ONE);
    Files.delete(path);
    file.refresh(0);
    assertStaysWith("no file of this name");
    refresh("");
    assertStaysWith("an empty file");
    refresh("origins: []\n");
    assertStaysWith("at least one origin");
    refresh("\u0000\u0001{{{{");
    assertThat(urls()).containsExactly("http://10.0.0.1:8080");
    assertThat(file.problems()).isNotEmpty();
  }

  @Test
  void allProblemsAreSaidAtOnceWithTheirLines() throws IOException {
    refresh(
        """
        origins:
        - ftp://10.0.0.1
        - {url: 'http://10.0.0.2', weight: 0}
        - {url: 'http://10.0.0.3', wieght: 2}
        - http://10.0.0.4
        - http://10.0.0.4
        """);
    assertThat(file.origins()).isEmpty();
    assertThat(file.problems())
        .extracting(line -> line.substring(path.toString().length(), line.indexOf(": ")))
        .containsExactly(":2:3", ":3:36", ":4:28", ":6:3");
  }

  @Test
  void tooManyOriginsAreRefusedAsAWhole() throws IOException {
    refresh(ONE);
    refresh(
        IntStream.range(0, 10_000)
            .mapToObj(i -> "- http://10.1." + i / 256 + "." + i % 256)
            .collect(Collectors.joining("\n", "origins:\n", "\n")));
    assertStaysWith("10000 origins, expected at most 1000");
  }

  @Test
  void aFileOfTooManyOctetsIsNotParsed() throws IOException {
    refresh(ONE);
    refresh(ONE + "#".repeat(OriginFile.LIMIT_BYTES));
    assertStaysWith("more than 256KiB");
  }

  @Test
  void anOriginThatDoesNotSuitTheProtocolIsRefused() throws IOException {
    file = new OriginFile("app", path, OriginProtocol.H2);
    refresh(ONE);
    assertThat(file.problems()).singleElement().asString().contains("https:// beside protocol h2");
  }

  @Test
  void anotherFileOfTheSameTimeAndSizeIsReadByItsInode() throws IOException {
    refresh(ONE);
    FileTime time = Files.getLastModifiedTime(path);
    Path next = directory.resolve("next");
    Files.writeString(next, ONE.replace("0.1", "0.2"));
    Files.setLastModifiedTime(next, time);
    Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    file.refresh(0);
    assertThat(urls()).containsExactly("http://10.0.0.2:8080");
  }

  @Test
  void aFileThatCouldNotBeReadIsReadAtTheNextLook() throws IOException {
    List<Path> opened = new ArrayList<>();
    file =
        new OriginFile(
            "app",
            path,
            OriginProtocol.AUTO,
            asked -> {
              opened.add(asked);
              if (opened.size() == 2) {
                throw new FileSystemException(path.toString(), null, "Too many open files");
              }
              return Files.newInputStream(asked);
            });
    refresh(ONE);
    refresh(ONE.replace("0.1", "0.22"));
    assertStaysWith("Too many open files");
    file.refresh(0);
    assertThat(urls()).containsExactly("http://10.0.0.22:8080");
    assertThat(file.problems()).isEmpty();
  }

  @Test
  void aFileThatHasNotChangedIsNotReadAgain() throws IOException {
    refresh(ONE);
    List<OriginSettings> origins = file.origins();
    file.refresh(0);
    assertThat(file.origins()).isSameAs(origins);
  }

  private void refresh(String content) throws IOException {
    Files.writeString(path, content);
    file.refresh(0);
  }

  private List<String> urls() {
    return file.origins().stream().map(origin -> origin.url().toString()).toList();
  }

  private void assertStaysWith(String problem) {
    assertThat(urls()).containsExactly("http://10.0.0.1:8080");
    assertThat(file.problems()).singleElement().asString().contains(problem);
  }
}
