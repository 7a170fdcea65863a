package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.Jvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes most of the server's core, so that one generator can ask more of the server than it can do:
 * a process of real-time priority that computes for a share of every half millisecond.
 */
final class SlowProcessor {

  /*
   * What is left comes in slices far shorter than anything that is measured, so the server sees a
   * slow processor and not one that stops. The process ends with the thread that started it
   * (setpriv --pdeathsig, and -Xrs so that the kernel ends it at once), and looks each second
   * whether its parent is still there.
   */

  private static final long PERIOD_NANOS = 500_000;
  private static final long LOOK_NANOS = 1_000_000_000L;
  private static final String READY = "computing";
  private static final String PRIORITY = "10";
  private static final Duration START_LIMIT = Duration.ofSeconds(20);

  private SlowProcessor() {}

  /**
   * Takes that share of the server's core until the bench is closed.
   *
   * @param percent of the time, less than 95: the kernel leaves no real-time process more
   * @throws IOException if this is not allowed here, with what to do about it
   */
  static Child start(Workbench bench, int percent) throws IOException {
    if (Programs.find("chrt") == null) {
      throw new IOException("chrt is needed; install it with: apt-get install util-linux");
    }
    var command = new ArrayList<>(List.of("chrt", "--fifo", PRIORITY));
    List<String> options = List.of("-Xrs", "-Xmx32m", "-XX:+UseSerialGC");
    command.addAll(Jvm.command(SlowProcessor.class, options, percent));
    Child child = bench.start("slow-processor", Workbench.Core.SERVER, command);
    try {
      child.awaitPrinted(READY, 1, START_LIMIT);
    } catch (IOException e) {
      throw new IOException(
          "the processor cannot be made slow: real-time priority is needed; run it as root, or with"
              + " --slow 0 ("
              + e.getMessage()
              + ")",
          e);
    }
    return child;
  }

  /** Computes until the process is told to end or its parent is gone. */
  public static void main(String[] arguments) {
    long computing = PERIOD_NANOS * Integer.parseInt(arguments[0]) / 100;
    long parent = parent();
    System.out.println(READY);
    long period = System.nanoTime();
    long look = period + LOOK_NANOS;
    while (true) {
      long now = compute(period + computing);
      if (now - look >= 0) {
        if (parent() != parent) {
          return;
        }
        look = now + LOOK_NANOS;
      }
      period = Math.max(period + PERIOD_NANOS, now);
      LockSupport.parkNanos(period - now);
      period = Math.max(period, System.nanoTime() - PERIOD_NANOS / 2);
    }
  }

  private static long compute(long until) {
    long now = System.nanoTime();
    while (now - until < 0) {
      Thread.onSpinWait();
      now = System.nanoTime();
    }
    return now;
  }

  private static long parent() {
    Optional<ProcessHandle> parent = ProcessHandle.current().parent();
    return parent.map(ProcessHandle::pid).orElse(0L);
  }
}
