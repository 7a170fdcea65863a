package io.kamille.launcher.service;

import io.kamille.core.loop.SteadyTask;
import io.kamille.core.socket.UnixSocket;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What we tell systemd, see {@code sd_notify(3)}. Without it all of this does nothing. Any thread.
 */
public final class ServiceManager {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final String NOTIFY_SOCKET = "NOTIFY_SOCKET";
  private static final String WATCHDOG_USEC = "WATCHDOG_USEC";
  private static final String WATCHDOG_PID = "WATCHDOG_PID";
  private static final int ROUNDS_PER_LIMIT = 3;

  private final String socket;
  private final Duration watchdogLimit;

  private ServiceManager(String socket, Duration watchdogLimit) {
    this.socket = socket;
    this.watchdogLimit = watchdogLimit;
  }

  /** The manager that these variables name. */
  public static ServiceManager of(Map<String, String> environment, long processId) {
    String socket = environment.getOrDefault(NOTIFY_SOCKET, "");
    boolean isForUs = environment.getOrDefault(WATCHDOG_PID, "" + processId).equals("" + processId);
    String micros = environment.getOrDefault(WATCHDOG_USEC, "");
    boolean isWatched = isForUs && !socket.isEmpty() && micros.matches("[1-9][0-9]{0,15}");
    return new ServiceManager(
        socket, isWatched ? Duration.ofNanos(1000 * Long.parseLong(micros)) : Duration.ZERO);
  }

  /** Begins to say that we are alive, after every loop has run a task, if the manager watches. */
  void watch(List<EventLoop> loops) {
    if (watchdogLimit.isPositive()) {
      Duration round = watchdogLimit.dividedBy(ROUNDS_PER_LIMIT);
      Thread.ofPlatform().daemon().name("kamille-watchdog").start(() -> watch(loops, round));
    }
  }

  private void watch(List<EventLoop> loops, Duration round) {
    SteadyTask task =
        new SteadyTask(
            LOG,
            "the watchdog was not told",
            () -> {
              if (haveTurned(loops, round)) {
                tell("WATCHDOG=1", List.of());
              }
              LockSupport.parkNanos(round.toNanos());
            });
    task.repeatUntil(() -> loops.stream().anyMatch(EventExecutor::isShuttingDown));
  }

  /** We serve. */
  public void ready(String status) {
    tell("READY=1\nSTATUS=" + status, List.of());
  }

  /** We have begun to stop, and may take this long until the next word. */
  public void stopping(Duration atMost) {
    tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + atMost.toNanos() / 1000, List.of());
  }

  /** Another process is the service from now on. */
  void mainProcess(long processId) {
    tell("MAINPID=" + processId + "\nREADY=1", List.of());
  }

  /**
   * Keeps sockets over a crash or a restart; what it has already, it has once.
   *
   * @param name under which they come back, without a colon
   * @param descriptors borrowed
   */
  public void keep(String name, List<Integer> descriptors) {
    for (int sent = 0; sent < descriptors.size(); sent += UnixSocket.MOST_DESCRIPTORS) {
      int end = Math.min(descriptors.size(), sent + UnixSocket.MOST_DESCRIPTORS);
      tell("FDSTORE=1\nFDNAME=" + name, descriptors.subList(sent, end));
    }
  }

  /** Closes what it keeps under that name. */
  public void forget(String name) {
    tell("FDSTOREREMOVE=1\nFDNAME=" + name, List.of());
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

  private void tell(String words, List<Integer> descriptors) {
    if (socket.isEmpty()) {
      return;
    }
    try {
      UnixSocket.sendDatagram(socket, words, descriptors);
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "the service manager was not told: " + failed.getMessage());
    }
  }
}
