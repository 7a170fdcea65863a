package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that are all busy, and what waits for them. */
class WorkerThreadsTest {

  private static final int MOST = 1024;

  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger done = new AtomicInteger();

  private void work() {
    begun.incrementAndGet();
    try {
      end.await();
    } catch (InterruptedException broken) {
      Thread.currentThread().interrupt();
    }
    done.incrementAndGet();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatFindsTooMuchWaitingIsRefusedAndAllElseIsDone(boolean isReading) {
    try (WorkerThreads threads =
        isReading ? WorkerThreads.reading() : WorkerThreads.compressing()) {
      threads.execute(this::work);
      Await.until(() -> begun.get() == 1, "the first");
      int taken = 1;
      while (takes(threads)) {
        taken++;
      }
      int busy = taken - MOST;
      Await.until(() -> begun.get() == busy, "all threads are busy");
      int processors = Runtime.getRuntime().availableProcessors();
      assertThat(busy).isEqualTo(isReading ? 4 : Math.max(1, processors / 4));
      for (int i = 0; i < 3 * MOST; i++) {
        assertThatThrownBy(() -> threads.execute(this::work))
            .isInstanceOf(RejectedExecutionException.class);
      }
      end.countDown();
      int all = taken;
      Await.until(() -> done.get() == all, "all that was taken");
      threads.execute(this::work);
      Await.until(() -> done.get() == all + 1, "one more");
    }
  }

  private boolean takes(WorkerThreads threads) {
    try {
      threads.execute(this::work);
      return true;
    } catch (RejectedExecutionException full) {
      return false;
    }
  }
}
