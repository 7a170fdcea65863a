package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuditLogTest {

  @TempDir private Path directory;
  private final ManualClock clock = ManualClock.atSeconds(1_795_251_660L);
  private Path file;

  @BeforeEach
  void name() {
    file = directory.resolve("state/audit.jsonl");
  }

  @Test
  void aLineNamesWhoDidWhatAndFollowsTheLineBefore() throws IOException {
    append("POST /v1/cache/purges", "200");
    append("PUT /v1/config", "409");
    List<String> lines = Files.readAllLines(file);
    assertThat(lines.getFirst())
        .startsWith("{\"seq\":1,\"time\":\"2026-11-21T09:01:00Z\",\"who\":{\"id\":\"local\",")
        .contains("\"action\":\"POST /v1/cache/purges\"", "\"outcome\":\"200\"");
    assertThat(AuditLog.verify(file)).isEqualTo(new AuditLog.Verdict(2, null, hash(lines.get(1))));
  }

  @Test
  void aLineThatIsTooLongFailsItselfAndNoneThatWaitsWithIt() throws IOException {
    try (AuditLog log = AuditLog.open(file, clock)) {
      var before = log.append(null, "a", "", "", "200", true);
      var tooLong = log.append(null, "x".repeat(64 << 10), "", "", "200", true);
      var after = log.append(null, "b", "", "", "200", true);
      assertThat(AuditLog.awaited(before)).isEqualTo(1);
      assertThat(AuditLog.awaited(after)).isEqualTo(2);
      assertThatThrownBy(() -> AuditLog.awaited(tooLong)).hasMessageContaining("longer than");
    }
    assertThat(AuditLog.verify(file).lines()).isEqualTo(2);
    assertThat(AuditLog.verify(file).trouble()).isNull();
  }

  /** Such as one whose new part is longer than an array may be; its octets take no room. */
  @Test
  void aFileThatCannotBeFollowedFailsEachLine() throws IOException {
    try (AuditLog log = AuditLog.open(file, clock);
        FileChannel other = FileChannel.open(file, StandardOpenOption.WRITE)) {
      other.write(ByteBuffer.allocate(1), 3L << 30);
      var line = log.append(null, "a", "", "", "200", false);
      assertThatThrownBy(() -> AuditLog.awaited(line)).isInstanceOf(IOException.class);
      other.truncate(0);
      assertThat(AuditLog.awaited(log.append(null, "b", "", "", "200", false))).isEqualTo(1);
    }
  }

  @Test
  void aChangedLineIsFound() throws IOException {
    append("a", "200");
    append("b", "200");
    append("c", "200");
    Files.writeString(file, Files.readString(file).replace("\"action\":\"b\"", "\"action\":\"x\""));
    assertThat(AuditLog.verify(file).lines()).isEqualTo(1);
    assertThat(AuditLog.verify(file).trouble()).isEqualTo("line 2: its digest is wrong");
  }

  @Test
  void aLineThatIsNoJsonIsFoundAndLeftOutOfTheList() throws IOException {
    append("a", "200");
    append("b", "200");
    append("c", "200");
    Files.writeString(file, Files.readString(file).replace("\"action\":\"b\"", "\"action\":b"));
    assertThat(AuditLog.verify(file).trouble()).startsWith("line 2: ");
    try (AuditLog log = AuditLog.open(file, clock)) {
      assertThat(log.last(9).stream().map(entry -> String.valueOf(entry.get("seq"))))
          .containsExactly("3", "1");
    }
  }

  @Test
  void aRemovedLineIsFound() throws IOException {
    append("a", "200");
    append("b", "200");
    append("c", "200");
    List<String> lines = Files.readAllLines(file);
    Files.writeString(file, lines.get(0) + "\n" + lines.get(2) + "\n");
    assertThat(AuditLog.verify(file).trouble())
        .isEqualTo("line 2: it does not follow the line before");
  }

  @Test
  void aLineThatACrashCutIsLeftOutAndTheChainGoesOn() throws IOException {
    append("a", "200");
    Files.writeString(file, "{\"seq\":2,\"time\":\"20", StandardOpenOption.APPEND);
    append("b", "200");
    assertThat(AuditLog.verify(file).lines()).isEqualTo(2);
    assertThat(Files.readString(file)).contains("{\"seq\":2,").doesNotContain("\"20{");
  }

  /** The proxy starts, and a check still finds what is wrong. */
  @ParameterizedTest
  @ValueSource(strings = {"hello", "hello,\"hash\":\"x\"}", "\u00fc,\"hash\":\"\u00fc\"}"})
  void aFileWithOtherLinesIsPutAside(String line) throws IOException {
    append("a", "200");
    String hash = AuditLog.verify(file).hash();
    Files.writeString(file, line + "\n", StandardCharsets.ISO_8859_1, StandardOpenOption.APPEND);
    append("b", "200");
    assertThat(AuditLog.verify(directory.resolve("state/audit.jsonl.1")))
        .extracting("lines", "hash")
        .containsExactly(1L, hash);
    assertThat(AuditLog.verify(directory.resolve("state/audit.jsonl.1")).trouble())
        .startsWith("line 2: ");
    assertThat(AuditLog.verify(file)).extracting("lines", "trouble").containsExactly(1L, null);
    assertThat(Files.readString(file)).contains("{\"seq\":2,", "\"prev\":\"" + hash + "\"");
    append("c", "200");
    assertThat(AuditLog.verify(file).lines()).isEqualTo(2);
  }

  /** Each of them becomes three octets when it is read as UTF-8. */
  @Test
  void octetsThatAreNoTextAreCutOffAlone() throws IOException {
    append("a", "200");
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, new byte[] {-1, -1, -1, '{'}, StandardOpenOption.APPEND);
    try (AuditLog log = AuditLog.open(file, clock)) {
      assertThat(Files.readAllBytes(file)).isEqualTo(whole);
      assertThat(log.last(9)).hasSize(1);
    }
  }

  @Test
  void theNewestEntriesComeFirst() throws IOException {
    append("a", "200");
    append("b", "200");
    try (AuditLog log = AuditLog.open(file, clock)) {
      assertThat(log.last(1)).hasSize(1);
      assertThat(log.last(9).getFirst().get("seq")).hasToString("2");
    }
  }

  @Test
  void anOrderIsTakenDown() throws IOException {
    try (AuditLog log = AuditLog.open(file, clock)) {
      log.append(Identity.local(), "POST /v1/cache/purges", "/", "{\"all\":true}", "begun");
    }
    assertThat(Files.readString(file)).contains("\"order\":\"{\\\"all\\\":true}\",");
    assertThat(AuditLog.verify(file).trouble()).isNull();
  }

  @Test
  void whileOneProcessTakesOverEachFollowsWhatTheOtherWrites() throws IOException {
    try (AuditLog one = AuditLog.open(file, clock);
        AuditLog other = AuditLog.open(file, clock)) {
      one.append(Identity.local(), "a", "/", "", "200");
      other.append(Identity.local(), "b", "/", "", "200");
      assertThat(one.append(Identity.local(), "c", "/", "", "200")).isEqualTo(3);
      assertThat(one.last(9)).hasSize(3);
    }
    assertThat(AuditLog.verify(file).lines()).isEqualTo(3);
    assertThat(AuditLog.verify(file).trouble()).isNull();
  }

  @Test
  void aFullFileGivesWayToAnotherThatGoesOn() throws IOException {
    Path old = directory.resolve("state/audit.jsonl.1");
    try (AuditLog log = AuditLog.open(file, clock)) {
      Files.createFile(directory.resolve("state/audit.jsonl.7"));
      Path inTheWay = Files.createDirectories(directory.resolve("state/audit.jsonl.8/kept"));
      assertThatThrownBy(() -> fill(log, 300)).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> fill(log, 1)).isInstanceOf(IOException.class);
      Files.delete(inTheWay);
      fill(log, 1);
    }
    long lines = AuditLog.verify(old).lines();
    assertThat(AuditLog.verify(file).lines()).isEqualTo(1);
    assertThat(Files.readString(file)).contains("\"prev\":\"" + AuditLog.verify(old).hash() + "\"");
    Files.delete(file);
    try (AuditLog log = AuditLog.open(file, clock)) {
      assertThat(log.append(Identity.local(), "next", "/", "", "200")).isEqualTo(lines + 1);
    }
  }

  @Test
  void whenOneProcessBeginsANewFileTheOtherWritesThereToo() throws IOException {
    Path old = directory.resolve("state/audit.jsonl.1");
    try (AuditLog one = AuditLog.open(file, clock);
        AuditLog other = AuditLog.open(file, clock)) {
      other.append(Identity.local(), "first", "/", "", "200");
      while (Files.notExists(old)) {
        fill(one, 1);
      }
      long size = Files.size(old);
      long number = one.append(Identity.local(), "b", "/", "", "200");
      assertThat(other.append(Identity.local(), "c", "/", "", "200")).isEqualTo(number + 1);
      assertThat(one.append(Identity.local(), "d", "/", "", "200")).isEqualTo(number + 2);
      assertThat(Files.size(old)).isEqualTo(size);
    }
    assertThat(AuditLog.verify(old).trouble()).isNull();
    assertThat(AuditLog.verify(file)).extracting("lines", "trouble").containsExactly(4L, null);
  }

  @Test
  void nothingIsWrittenWhileAnotherProcessWrites() throws IOException {
    try (AuditLog log = AuditLog.open(file, clock);
        FileChannel gate = DurableFile.open(directory.resolve("state/audit.jsonl.lock"));
        FileLock held = gate.lock()) {
      // Within one process, a second lock is refused; another process would wait for it.
      assertThatThrownBy(() -> fill(log, 1))
          .hasRootCauseInstanceOf(OverlappingFileLockException.class);
      held.release();
      fill(log, 1);
    }
    assertThat(AuditLog.verify(file).lines()).isEqualTo(1);
  }

  private static void fill(AuditLog log, int lines) throws IOException {
    for (int i = 0; i < lines; i++) {
      log.append(Identity.local(), "a", "x".repeat(60_000), "", "200");
    }
  }

  private void append(String action, String outcome) throws IOException {
    try (AuditLog log = AuditLog.open(file, clock)) {
      log.append(Identity.local(), action, "/", "", outcome);
    }
  }

  private static String hash(String line) {
    int at = line.lastIndexOf("\"hash\":\"") + "\"hash\":\"".length();
    return line.substring(at, line.length() - 2);
  }
}
