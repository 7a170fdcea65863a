package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IndexThreadTest {

  private final Semaphore works = new Semaphore(0);
  private final IndexThread thread = IndexThread.start(this::work);
  private volatile boolean isHere;

  private void work() {
    isHere = thread.isHere();
    works.release();
  }

  @AfterEach
  void close() {
    thread.close();
  }

  private void awaitWork() throws InterruptedException {
    assertThat(works.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whatIsAskedIsDoneOnTheThread() throws InterruptedException {
    assertThat(thread.isHere()).isFalse();
    thread.ask();
    awaitWork();
    assertThat(isHere).isTrue();
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
