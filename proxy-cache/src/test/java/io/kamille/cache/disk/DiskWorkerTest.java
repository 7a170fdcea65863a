package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a disk that hangs has to do once it goes on. */
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

  private final class Duties implements DiskWorker.Duties {

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
    public boolean idle(boolean isClosing) {
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
