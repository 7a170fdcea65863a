package io.kamille.launcher.service;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Tells the service manager that we are alive, but only after every loop has run a task. */
public final class Watchdog {

  private static final int ROUNDS_PER_LIMIT = 3;

  private Watchdog() {}

  /** Begins, if the manager watches; ends with the process. */
  public static void start(ServiceManager manager, List<? extends EventExecutor> loops) {
    manager
        .watchdogLimit()
        .ifPresent(
            limit ->
                Thread.ofPlatform()
                    .daemon()
                    .name("kamille-watchdog")
                    .start(() -> watch(manager, loops, limit.dividedBy(ROUNDS_PER_LIMIT))));
  }

  private static void watch(
      ServiceManager manager, List<? extends EventExecutor> loops, Duration round) {
    while (loops.stream().noneMatch(EventExecutor::isShuttingDown)) {
      if (haveTurned(loops, round)) {
        manager.alive();
      }
      LockSupport.parkNanos(round.toNanos());
    }
  }

  /** Whether each loop runs a task within that time. */
  static boolean haveTurned(List<? extends EventExecutor> loops, Duration limit) {
    List<? extends Future<?>> turns = loops.stream().map(loop -> loop.submit(() -> {})).toList();
    long deadline = System.nanoTime() + limit.toNanos();
    return turns.stream()
        .allMatch(
            turn ->
                turn.awaitUninterruptibly(
                    Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS));
  }
}
