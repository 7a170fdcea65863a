package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the log says of a disk that takes nothing. */
class DiskWorkerLogTest {

  private final List<String> told = new ArrayList<>();

  @Test
  void aDiskThatComesAndGoesIsToldOnceAMinute() {
    var worker = new DiskWorker(new NearlyFull(), 1, new Told(told));
    for (int i = 0; i < 10; i++) {
      worker.runOnce();
      assertThat(worker.isRunning()).isFalse();
      worker.runOnce();
      assertThat(worker.isRunning()).isTrue();
    }
    assertThat(told)
        .satisfiesExactly(
            line -> assertThat(line).endsWith("each second: No space left on device"),
            line -> assertThat(line).endsWith("the disk is written again"));
  }

  /** Keeps the lines. */
  private record Told(List<String> lines) implements System.Logger {

    @Override
    public String getName() {
      return "told";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle words, String line, Throwable why) {
      lines.add(line);
    }

    @Override
    public void log(
        Level level, @Nullable ResourceBundle words, String line, Object @Nullable ... values) {
      lines.add(line);
    }
  }

  /** A trial succeeds, what is large does not. */
  private static final class NearlyFull implements DiskWorker.Duties {

    @Override
    public boolean first() {
      return false;
    }

    @Override
    public boolean idle(boolean isClosing) throws IOException {
      throw new IOException("No space left on device");
    }

    @Override
    public void refused() {}

    @Override
    public void owe() {}

    @Override
    public void retry() {}

    @Override
    public boolean read() {
      return false;
    }

    @Override
    public void settled() {}

    @Override
    public void overwhelmed() {}

    @Override
    public void aside() {}

    @Override
    public void giveUp() {}
  }
}
