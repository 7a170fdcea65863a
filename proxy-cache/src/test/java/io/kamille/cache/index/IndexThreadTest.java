package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.LinesLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IndexThreadTest {

  private final Semaphore works = new Semaphore(0);
  private final IndexThread thread = IndexThread.start(this::work, new LinesLog(List.of()));
  private volatile String worker = "";

  private void work() {
    worker = Thread.currentThread().getName();
    works.release();
  }

  @AfterEach
  void close() {
    thread.close();
  }

  private void awaitWork() throws InterruptedException {
    assertThat(works.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whatIsAskedIsDoneOnTheThread() throws InterruptedException {
    thread.ask();
    awaitWork();
    assertThat(worker).isEqualTo("kamille-index");
  }

  @Test
  void closingWaitsForTheWorkUnderWay() {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch isClosing = new CountDownLatch(1);
    AtomicBoolean isDone = new AtomicBoolean();
    IndexThread slow =
        IndexThread.start(
            () -> {
              begun.countDown();
              isDone.set(awaits(isClosing));
            },
            new LinesLog(List.of()));
    slow.ask();
    assertThat(awaits(begun)).isTrue();
    Thread closer = Thread.currentThread();
    Thread.ofVirtual()
        .start(
            () -> {
              while (closer.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
              }
              isClosing.countDown();
            });
    slow.close();
    assertThat(isDone).isTrue();
  }

  @Test
  void whateverIsThrownTheThreadGoesOnSaysItOnceAndCountsIt() throws InterruptedException {
    List<String> lines = new CopyOnWriteArrayList<>();
    Semaphore calls = new Semaphore(0);
    IndexThread faulty =
        IndexThread.start(
            () -> {
              calls.release();
              throw new OutOfMemoryError("thrown by the test");
            },
            new LinesLog(lines));
    for (int i = 0; i < 3; i++) {
      faulty.hurry();
      assertThat(calls.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
    }
    faulty.close();
    assertThat(faulty.failures()).isEqualTo(3);
    assertThat(lines).hasSize(1).first().asString().contains("upkeep", "thrown by the test");
  }

  @Test
  void aFailureThatCannotBeSaidDoesNotEndTheThreadEither() throws InterruptedException {
    Semaphore calls = new Semaphore(0);
    IndexThread faulty =
        IndexThread.start(
            () -> {
              calls.release();
              throw new OutOfMemoryError("thrown by the test");
            },
            new LinesLog(List.of()));
    for (int i = 0; i < 3; i++) {
      faulty.hurry();
      assertThat(calls.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
    }
    faulty.close();
    assertThat(faulty.failures()).isEqualTo(4);
  }

  private static boolean awaits(CountDownLatch latch) {
    try {
      return latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void noQuestionIsLost() throws InterruptedException {
    for (int i = 0; i < 1000; i++) {
      if (i % 2 == 0) {
        thread.ask();
      } else {
        thread.hurry();
      }
      awaitWork();
      works.drainPermits();
    }
  }
}
