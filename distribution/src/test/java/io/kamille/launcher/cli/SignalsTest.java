package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SignalsTest {

  private static final int SIGNALS = 9;

  private final Signals.Held held = new Signals.Held();
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void signalsThatComeDuringAnActionHaveItRunOnceMore() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(SIGNALS - 1);
    List<Thread> threads = new ArrayList<>();
    held.act(
        () -> {
          runs.incrementAndGet();
          begun.countDown();
          await(end);
        });
    threads.add(Thread.ofVirtual().start(held::came));
    await(begun);
    for (int i = 0; i < SIGNALS; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    held.came();
                    gone.countDown();
                  }));
    }
    // One waits, and no thread stays for the others.
    boolean areGone = gone.await(5, TimeUnit.SECONDS);
    end.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(areGone).isTrue();
    assertThat(runs).hasValue(2);
  }

  @Test
  void aSignalBeforeItsActionIsKnownHasItRunLater() {
    held.came();
    held.came();
    held.act(runs::incrementAndGet);
    assertThat(runs).hasValue(1);
    held.came();
    assertThat(runs).hasValue(2);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
