package io.kamille.core.answer;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedirectsFileTest {

  @TempDir private Path directory;
  private final Problems problems = new Problems("f");
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = directory.resolve("moved.csv");
    Files.writeString(
        file,
        """
        \uFEFF# what has moved
        /a,/b
        /c , https://other.test/d?x=1 , 301

        /old/*,/new/*
        /old/deep/*,/deeper
        /old/exact,/exact,302
        /caf%C3%A9,/cafe
        """);
  }

  private @Nullable String find(String uri) throws IOException {
    return shown(
        RedirectTable.read(file, problems).answer(RequestHead.of("GET", "http://h" + uri)));
  }

  private static @Nullable String shown(@Nullable ResponseHead moved) {
    return moved == null ? null : moved.status() + " " + moved.fields().first(FieldName.LOCATION);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "/a, 308 /b",
        "/%61, 308 /b",
        "//./a, 308 /b",
        "/a?q=1, 308 /b?q=1",
        "/a?, 308 /b?",
        "/a/, -",
        "/A, -",
        "/ab, -",
        "/, -",
        "/c?q=1, 301 https://other.test/d?x=1",
        "/old/x/y?q, 308 /new/x/y?q",
        "/old/, 308 /new/",
        "/old, -",
        "/older/x, -",
        "/old/deep/x, 308 /deeper",
        "/old/deep, 308 /new/deep",
        "/old/exact, 302 /exact",
        "/old/x%0d%0aSet-Cookie:a, 308 /new/x%0d%0aSet-Cookie:a",
        "/old/%22%3Cscript%3E, 308 /new/%22%3Cscript%3E",
        "/old//evil.test, 308 /new/evil.test",
        "/old/%2e%2e/a, 308 /b",
        "/caf%C3%A9, 308 /cafe",
      })
  void pathsAreComparedAsRoutesDoAndTheLongestPrefixWins(String uri, @Nullable String to)
      throws IOException {
    assertThat(find(uri)).isEqualTo(to);
  }

  @Test
  void linesThatLeadInACircleAreNamed() throws IOException {
    Files.writeString(
        file,
        """
        /1,/a
        /a,/b?x=1
        /b,https://other.test/a
        /c,/d
        /d,/e/f
        /e/*,/c
        /old/*,/new/*
        /new/*,/old/*
        /g,/new/h
        /k/*,/k/k/*
        /i/*,/j/*
        /j/*,/h/*
        """);
    RedirectTable.read(file, problems);
    assertThat(problems.inOrder())
        .extracting(problem -> problem.position().line())
        .containsExactly(4, 5, 6, 7, 8, 9, 10);
    assertThat(problems.inOrder().getFirst().toString())
        .contains("found a loop of redirects, expected an end after at most 20");
  }

  @Test
  void asManyRedirectsMayFollowEachOtherAsClientsTake() throws IOException {
    Files.writeString(
        file,
        IntStream.range(0, 21).mapToObj(i -> "/" + i + ",/" + (i + 1)).collect(joining("\n")));
    RedirectTable.read(file, problems);
    assertThat(problems.inOrder())
        .extracting(problem -> problem.position().line())
        .containsExactly(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/x",
        "/x,/y,308,z",
        "/x,/y,200",
        "/x,",
        ",/y",
        "x,/y",
        "/x/../y,/z",
        "/%61,/z",
        "/x*,/y",
        "/x?q,/y",
        "/x,//evil.test",
        "/x,javascript:alert(1)",
        "/x,/y{uri}",
        "/x,/y/*",
        "/x/*,/y*",
        "/x,/a b",
        "/x,/\u00e9",
        "/a,/c",
        "/x,/x",
        "/x/*,/x/*",
        "/x/*,/x/",
      })
  void eachWrongLineIsNamed(String line) throws IOException {
    Files.writeString(file, "/a,/b\n\n" + line + "\n/c,/d\nhalf a li");
    RedirectTable.read(file, problems);
    assertThat(problems.inOrder())
        .extracting(Problem::toString)
        .satisfiesExactly(
            first ->
                assertThat(first).startsWith(file + ":3:1: found a wrong line, expected FROM,TO"),
            second -> assertThat(second).startsWith(file + ":5:1: ").doesNotContain("half"));
  }

  @Test
  void thereAreLimits() throws IOException {
    String lines =
        IntStream.range(0, 100_000)
            .mapToObj(i -> (i % 2 == 0 ? "/" + i : "/" + i + "/*") + ",/to")
            .collect(Collectors.joining("\n"));
    Files.writeString(file, lines);
    RedirectTable table = RedirectTable.read(file, problems);
    assertThat(problems.isEmpty()).isTrue();
    assertThat(table.size()).isEqualTo(100_000);
    assertThat(table.answer(RequestHead.of("GET", "http://h/99998"))).isNotNull();
    assertThat(table.answer(RequestHead.of("GET", "http://h/99999/x"))).isNotNull();
    Files.writeString(file, lines + "\n/one/more,/to");
    assertThatThrownBy(() -> RedirectTable.read(file, problems))
        .hasMessage("it has more than 100000 redirects");
    try (var large = new RandomAccessFile(file.toFile(), "rw")) {
      large.setLength((16 << 20) + 1);
    }
    assertThatThrownBy(() -> RedirectTable.read(file, problems)).hasMessage("more than 16MiB");
    assertThatThrownBy(() -> RedirectTable.read(directory, problems))
        .hasMessage("it is no regular file");
  }

  @Test
  void aChangeIsTakenInWithinASecondAndAWrongFileChangesNothing() throws IOException {
    long[] nanos = {0};
    WallClock clock =
        new WallClock() {
          @Override
          public long epochMillis() {
            return 0;
          }

          @Override
          public long nanos() {
            return nanos[0];
          }
        };
    RedirectsFile moved = new RedirectsFile(file, Runnable::run, clock);
    assertThat(explain(moved)).isEqualTo("308 /b");
    Files.writeString(file, "/a,/elsewhere\n");
    assertThat(explain(moved)).isEqualTo("308 /b");
    nanos[0] = 1_000_000_000L;
    moved.pollIfDue();
    assertThat(explain(moved)).isEqualTo("308 /elsewhere");
    Files.writeString(file, "/a,/third\nhalf a li");
    nanos[0] += 1_000_000_000L;
    moved.pollIfDue();
    assertThat(explain(moved)).isEqualTo("308 /elsewhere");
    Files.writeString(file, "");
    nanos[0] += 1_000_000_000L;
    moved.pollIfDue();
    assertThat(explain(moved)).isEqualTo("308 /elsewhere");
    Files.delete(file);
    nanos[0] += 1_000_000_000L;
    moved.pollIfDue();
    assertThat(explain(moved)).isEqualTo("308 /elsewhere");
  }

  @Test
  void nobodyBeginsWithAFileThatIsNotRight() throws IOException {
    Files.writeString(file, "/a,/b\nhalf a li");
    assertThatThrownBy(() -> new RedirectsFile(file, Runnable::run, WallClock.system()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString());
    Files.writeString(file, "");
    assertThat(new RedirectsFile(file, Runnable::run, WallClock.system()).table().size()).isZero();
  }

  private static @Nullable String explain(RedirectsFile moved) {
    return shown(moved.table().answer(RequestHead.of("GET", "http://h/a")));
  }
}
