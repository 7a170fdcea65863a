package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others leave of the processors we may use (proc(5)). */
class IdleProcessorsTest {

  @TempDir private Path proc;
  private IdleProcessors processors;

  @BeforeEach
  void open() throws IOException {
    Files.createDirectory(proc.resolve("self"));
    processors = new IdleProcessors(proc);
    allowed("0-1,3");
    write(0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  private void allowed(String list) throws IOException {
    Files.writeString(
        proc.resolve("self/status"), "Name:\tjava\nCpus_allowed_list:\t" + list + "\n");
  }

  /** Busy and idle ticks of processors 0 to 3, and our own. */
  private void write(long... ticks) throws IOException {
    StringBuilder stat = new StringBuilder("cpu  1 2 3 4 5 6 7 8 9 10\n");
    for (int i = 0; i < 4; i++) {
      stat.append("cpu" + i + " " + ticks[2 * i] + " 0 0 " + ticks[2 * i + 1] + " 0 0 0 0 0 0\n");
    }
    Files.writeString(proc.resolve("stat"), stat.append("intr 1 2 3\n"));
    Files.writeString(
        proc.resolve("self/stat"), "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 " + ticks[8] + " 0 0 0\n");
  }

  @Test
  void theFirstQuestionHasNoAnswer() {
    assertThat(processors.count()).isZero();
  }

  @Test
  void idleProcessorsCountWhereWeMayRun() throws IOException {
    processors.count();
    write(100, 0, 0, 100, 0, 100, 0, 100, 0);
    assertThat(processors.count()).isCloseTo(2, within(0.001));
  }

  @Test
  void whatWeUseOurselvesIsOurs() throws IOException {
    processors.count();
    write(100, 0, 100, 0, 100, 0, 100, 0, 200);
    assertThat(processors.count()).isCloseTo(2, within(0.001));
  }

  @Test
  void onlyTheTimeSinceTheLastQuestionCounts() throws IOException {
    processors.count();
    write(100, 0, 100, 0, 100, 0, 100, 0, 0);
    processors.count();
    write(100, 100, 100, 100, 200, 0, 200, 0, 0);
    assertThat(processors.count()).isCloseTo(2, within(0.001));
  }

  @Test
  void whereNothingCanBeReadNothingIsIdle() throws IOException {
    processors.count();
    Files.delete(proc.resolve("stat"));
    assertThat(processors.count()).isZero();
  }

  @Test
  void thisMachineCanBeAsked() {
    IdleProcessors real = new IdleProcessors(Path.of("/proc"));
    real.count();
    assertThat(real.count()).isBetween(0.0, (double) Runtime.getRuntime().availableProcessors());
  }
}
