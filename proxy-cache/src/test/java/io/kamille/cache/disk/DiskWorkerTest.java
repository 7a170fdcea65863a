package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.LinesLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is done, and told, of a disk that hangs or is nearly full. */
class DiskWorkerTest {

  private static final int MOST = 1 << 20;

  private int written;
  private int overwhelmed;
  private int forgotten;
  private final DiskWorker worker = new DiskWorker(new Duties(), 0);

  private void remove(int count) {
    for (int i = 0; i < count; i++) {
      worker.remove(() -> written++);
    }
  }

  private void goOn() {
    boolean isMore = true;
    while (isMore) {
      isMore = worker.runOnce();
    }
  }

  @Test
  void behindTooManyRemovalsEverythingIsForgottenAndNoMoreWait() {
    remove(MOST - 1);
    assertThat(overwhelmed).isZero();
    remove(1);
    assertThat(overwhelmed).isEqualTo(1);
    remove(3 * MOST);
    assertThat(overwhelmed).as("told once").isEqualTo(1);
    goOn();
    assertThat(written).isEqualTo(MOST);
    assertThat(forgotten).isEqualTo(1);
    remove(7);
    goOn();
    assertThat(written).as("removals that came behind").isEqualTo(MOST + 7);
    assertThat(overwhelmed).isEqualTo(1);
  }

  @Test
  void aDiskThatComesAndGoesIsToldOnceAMinute() {
    List<String> told = new ArrayList<>();
    var nearlyFull = new DiskWorker(new NearlyFull(), 1, new LinesLog(told));
    for (int i = 0; i < 10; i++) {
      nearlyFull.runOnce();
      assertThat(nearlyFull.isRunning()).isFalse();
      nearlyFull.runOnce();
      assertThat(nearlyFull.isRunning()).isTrue();
    }
    assertThat(told)
        .satisfiesExactly(
            line -> assertThat(line).endsWith("each second: No space left on device"),
            line -> assertThat(line).endsWith("the disk is written again"));
  }

  /** A trial succeeds, what is large does not. */
  private final class NearlyFull extends Duties {

    @Override
    public boolean idle(boolean isClosing) throws IOException {
      throw new IOException("No space left on device");
    }
  }

  private class Duties implements DiskWorker.Duties {

    @Override
    public void overwhelmed() {
      overwhelmed++;
      worker.owe(
          () -> {
            assertThat(written).isGreaterThanOrEqualTo(MOST - 1);
            forgotten++;
          });
    }

    @Override
    public boolean first() {
      return false;
    }

    @Override
    public boolean idle(boolean isClosing) throws IOException {
      return false;
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
    public void aside() {}

    @Override
    public void giveUp() {}
  }
}
