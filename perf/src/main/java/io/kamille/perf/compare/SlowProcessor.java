package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.Jvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A process of real-time priority that takes a part of the server's core. */
public final class SlowProcessor {

  /*
   * What is left comes in slices far shorter than anything that is measured, so the server sees a
   * slow processor and not one that stops. No multiple of them is the kernel's tick of 4 ms, or user
   * and system time could not be told apart. The process ends with the thread that started it
   * (setpriv --pdeathsig, and -Xrs so that the kernel ends it at once).
   */

  private static final long PERIOD_NANOS = 530_000;
  private static final String READY = "computing";
  private static final Duration START_LIMIT = Duration.ofSeconds(20);

  private SlowProcessor() {}

  /** Takes so many per cent until it is stopped. */
  public static Child start(Workbench bench, int percent) throws IOException {
    var command = new ArrayList<>(List.of("chrt", "--fifo", "10"));
    List<String> options = List.of("-Xrs", "-Xmx32m", "-XX:+UseSerialGC");
    command.addAll(Jvm.command(SlowProcessor.class, options, percent));
    Child child = bench.start("slow-processor", Workbench.Core.SERVER, command);
    try {
      child.awaitPrinted(READY, 1, START_LIMIT);
    } catch (IOException e) {
      throw new IOException(
          "real-time priority (chrt of util-linux) is needed; run it as root, or with --slow 0: "
              + e.getMessage(),
          e);
    }
    return child;
  }

  /** Computes until the process is told to end. */
  public static void main(String[] arguments) {
    long computing = PERIOD_NANOS * Integer.parseInt(arguments[0]) / 100;
    System.out.println(READY);
    long period = System.nanoTime();
    while (true) {
      while (System.nanoTime() - period < computing) {
        Thread.onSpinWait();
      }
      period = Math.max(period + PERIOD_NANOS, System.nanoTime());
      LockSupport.parkNanos(period - System.nanoTime());
      period = Math.max(period, System.nanoTime() - PERIOD_NANOS / 2);
    }
  }
}
