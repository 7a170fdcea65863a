package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SteadyTaskTest {

  private final List<String> told = new ArrayList<>();
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void whateverARunMeetsTheNextOneComes() {
    SteadyTask task =
        new SteadyTask(
            new Told(),
            "not looked at",
            () -> {
              switch (runs.getAndIncrement()) {
                case 0 -> throw new OutOfMemoryError("full for a moment");
                case 1 -> throw new IllegalStateException("a bug");
                default -> {}
              }
            });
    task.repeatUntil(() -> runs.get() == 3);
    assertThat(told).containsExactly("not looked at, by a fault of ours");
  }

  @Test
  void aFailureThatLastsIsRepeatedAfterRestsAndSaidOnce() {
    SteadyTask task =
        new SteadyTask(
            new Told(),
            "nobody is answered",
            () -> {
              runs.incrementAndGet();
              throw new IOException("Too many open files");
            });
    long end = System.nanoTime() + 250_000_000;
    task.repeatUntil(() -> System.nanoTime() - end >= 0);
    assertThat(runs.get()).isBetween(1, 3);
    assertThat(told).containsExactly("nobody is answered: Too many open files");
  }

  @Test
  void whatIsClosedWhileItWaitsFailsInSilence() {
    SteadyTask task =
        new SteadyTask(
            new Told(),
            "nobody is answered",
            () -> {
              runs.incrementAndGet();
              throw new IOException("closed");
            });
    task.repeatUntil(() -> runs.get() > 0);
    assertThat(told).isEmpty();
  }

  @Test
  void anInterruptEndsIt() {
    SteadyTask task =
        new SteadyTask(
            new Told(),
            "",
            () -> {
              runs.incrementAndGet();
              throw new InterruptedException();
            });
    task.repeatUntil(() -> false);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(runs.get()).isOne();
    assertThat(told).isEmpty();
  }

  @Test
  void aLogThatFailsTooEndsNothing() {
    SteadyTask task =
        new SteadyTask(
            new Told() {
              @Override
              public void log(
                  Level level, @Nullable ResourceBundle bundle, String message, Throwable thrown) {
                throw new OutOfMemoryError();
              }
            },
            "",
            () -> {
              throw new OutOfMemoryError();
            });
    task.run();
  }

  private class Told implements System.Logger {

    @Override
    public String getName() {
      return "told";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(
        Level level, @Nullable ResourceBundle bundle, String message, Throwable thrown) {
      told.add(message);
    }

    @Override
    public void log(
        Level level, @Nullable ResourceBundle bundle, String format, Object... parameters) {
      told.add(format);
    }
  }
}
