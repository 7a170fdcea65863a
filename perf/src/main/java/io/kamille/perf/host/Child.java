package io.kamille.perf.host;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BinaryOperator;
import java.util.stream.Stream;

/** A process we started, with its own children: nginx and Varnish work in those. Any thread. */
public final class Child {

  private static final Duration STOP_LIMIT = Duration.ofSeconds(3);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
  private static final Duration LOOK_SOON = Duration.ofMillis(5);
  private static final int CONNECT_LIMIT_MILLIS = 2000;
  private static final int LOG_LINES = 5;

  private final String name;
  private final Process process;
  private final Path log;

  Child(String name, Process process, Path log) {
    this.name = name;
    this.process = process;
    this.log = log;
  }

  public long pid() {
    return process.pid();
  }

  /**
   * Waits until somebody listens on that loopback port.
   *
   * @throws IOException if the process ended or the limit passed; with what it printed last
   */
  public void awaitListening(int port, Duration limit) throws IOException {
    awaitListening(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), limit);
  }

  /**
   * Waits until somebody listens there, as the calling thread's network has it.
   *
   * @throws IOException if the process ended or the limit passed; with what it printed last
   */
  public void awaitListening(InetSocketAddress address, Duration limit) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!isListening(address)) {
      if (!process.isAlive()) {
        throw new IOException(name + " ended with status " + process.exitValue() + lastWords());
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(name + " is not listening after " + limit + lastWords());
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
  }

  /**
   * Waits until the process has printed that many lines with that text.
   *
   * @throws IOException if the process ended or the limit passed; with what it printed last
   */
  public void awaitPrinted(String text, int lines, Duration limit) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (printed(text) < lines) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        throw new IOException(name + " did not print «" + text + "»" + lastWords());
      }
      LockSupport.parkNanos(LOOK_SOON.toNanos());
    }
  }

  private long printed(String text) throws IOException {
    try (Stream<String> all = Files.lines(log)) {
      return all.filter(line -> line.contains(text)).count();
    }
  }

  /** Whether somebody listens there. */
  public static boolean isListening(InetSocketAddress address) {
    try (var socket = new Socket()) {
      socket.connect(address, CONNECT_LIMIT_MILLIS);
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  /** CPU time of the process and all its children so far. */
  public CpuTime cpuTime() throws IOException {
    return sum(
        CpuTime.ZERO, CpuTime::plus, pid -> CpuTime.parse(Files.readString(proc(pid, "stat"))));
  }

  /** How long the threads of the process itself have run. */
  public RunTime runTime() throws IOException {
    return RunTime.of(process.pid());
  }

  /** Memory of the process and all its children now. */
  public MemoryUse memory() throws IOException {
    return sum(MemoryUse.NONE, MemoryUse::plus, MemoryUse::of);
  }

  private interface Reading<T> {
    T of(long pid) throws IOException;
  }

  private <T> T sum(T zero, BinaryOperator<T> plus, Reading<T> reading) throws IOException {
    if (!process.isAlive()) {
      throw new IOException(name + " ended with status " + process.exitValue() + lastWords());
    }
    T sum = reading.of(process.pid());
    for (ProcessHandle child : process.descendants().toList()) {
      try {
        sum = plus.apply(sum, reading.of(child.pid()));
      } catch (IOException gone) {
        // A child that has just ended; its parent carries its time.
        sum = plus.apply(sum, zero);
      }
    }
    return sum;
  }

  private static Path proc(long pid, String file) {
    return Path.of("/proc", Long.toString(pid), file);
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** What it prints. */
  public Path log() {
    return log;
  }

  /** Ends the process and its children, by force if they hesitate. */
  public void stop() {
    stop(STOP_LIMIT);
  }

  /** The same with another limit; returns how it ended. */
  public int stop(Duration limit) {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    process.destroy();
    try {
      process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    all.forEach(ProcessHandle::destroyForcibly);
    return process.onExit().join().exitValue();
  }

  private String lastWords() {
    try {
      List<String> lines = Files.readAllLines(log);
      List<String> last = lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size());
      return last.isEmpty() ? "" : ": " + String.join(" | ", last);
    } catch (IOException unreadable) {
      return "";
    }
  }
}
