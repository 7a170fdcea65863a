package io.kamille.launcher.service;

import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes the order to upgrade: starts the version that is installed now, hands the listening sockets
 * over, and steps back. Whatever fails before that leaves this process serving.
 */
public final class Upgrade implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int MOST_BYTES = 4096;
  private static final int OCTETS_OF_CHARACTER = 4;

  /** What {@code kamille upgrade} says. */
  static final String ORDER = "upgrade";

  static final String DONE = "done ";
  static final String FAILED = "failed: ";

  private final Path path;
  private final List<String> command;
  private final ServiceManager manager;
  private final Incumbent incumbent;
  private final Runnable leave;
  private final Duration limit;
  private final ControlSocket control;
  // Volatile: set by the thread of the orders, read by the one that ends.
  private volatile @Nullable Heir heir;

  /**
   * Listens for the order that will be given at {@code path}.
   *
   * @param command that starts the installed version
   * @param incumbent gives to the new process what it has, and steps back once that serves
   * @param leave drains and ends; once it is told that the new process serves
   * @param limit for each step of the new process
   * @throws IOException if that cannot be
   */
  Upgrade(
      Path path,
      List<String> command,
      ServiceManager manager,
      Incumbent incumbent,
      Runnable leave,
      Duration limit)
      throws IOException {
    this.path = path;
    this.command = command;
    this.manager = manager;
    this.incumbent = incumbent;
    this.leave = leave;
    this.limit = limit;
    control = ControlSocket.open(path, this::take);
  }

  /** Orders that are given at {@code path} come to us from now on. */
  void publish() throws IOException {
    ControlSocket.publish(path, ProcessHandle.current().pid());
  }

  private void take(String word, UnixSocket caller) throws IOException {
    if (!word.equals(ORDER)) {
      caller.send(FAILED + "unknown order", List.of());
      return;
    }
    long successor;
    try {
      successor = succeed();
    } catch (IOException | RuntimeException failed) {
      LOG.log(Level.ERROR, "not upgraded, this process goes on: " + failed.getMessage());
      caller.send(failure(String.valueOf(failed.getMessage())), List.of());
      return;
    }
    try {
      caller.send(DONE + successor, List.of());
    } finally {
      leave.run();
    }
  }

  /** The answer that says why, as long as the other side reads one. */
  static String failure(String why) {
    int most = MOST_BYTES / OCTETS_OF_CHARACTER;
    return FAILED + (why.length() <= most ? why : why.substring(0, most - 1) + "…");
  }

  /** Gives the order to itself. */
  void begin() {
    Thread.ofPlatform()
        .daemon()
        .name("kamille-upgrade")
        .start(
            () -> {
              try {
                order(path);
              } catch (IOException failed) {
                // Logged by whoever took the order.
              }
            });
  }

  private long succeed() throws IOException {
    Successor successor = Successor.start(command, path, limit);
    LOG.log(Level.INFO, "process " + successor.processId() + " was started to take over");
    UnixSocket caller = await(successor);
    Heir next;
    try {
      next = new Heir(caller, successor.handOver(caller, incumbent), incumbent.follower());
    } catch (IOException failed) {
      caller.close();
      throw failed;
    }
    heir = next;
    stepBack(successor, next);
    return successor.processId();
  }

  /** There is no way back: the new process serves. */
  private void stepBack(Successor successor, Heir next) {
    manager.mainProcess(successor.processId());
    incumbent.stepBack();
    control.close();
    LOG.log(Level.INFO, "process " + successor.processId() + " has taken over");
    try {
      ControlSocket.publish(path, successor.processId());
      next.go();
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "process " + successor.processId() + ": " + failed.getMessage());
    }
  }

  /** Waits until it asks; others are told to come again. */
  private UnixSocket await(Successor successor) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (successor.isAlive() && System.nanoTime() - deadline < 0) {
      UnixSocket caller = control.next();
      if (caller == null) {
        continue;
      }
      if (takesOver(successor, caller)) {
        return caller;
      }
    }
    String ending = successor.ending();
    successor.end();
    throw new IOException("the new process did not start: " + ending);
  }

  /** Whether this is the new process; anybody else is told to come again, and closed. */
  private static boolean takesOver(Successor successor, UnixSocket caller) {
    try {
      boolean isNew = successor.is(caller.peer());
      if (!isNew) {
        caller.timeout(ControlSocket.MOMENT.multipliedBy(5));
      }
      // An answer before the order would be lost: closing with an order unread resets the other.
      if (caller.receive(MOST_BYTES).text().equals(Successor.TAKE_OVER) && isNew) {
        return true;
      }
      caller.send(FAILED + "another upgrade is under way", List.of());
    } catch (IOException gone) {
      // It does not want to know any more.
    }
    caller.close();
    return false;
  }

  /**
   * Orders a running Kamille to upgrade, and waits until it has or has not.
   *
   * @return the process that serves now
   * @throws IOException if the running process goes on; the message says why
   */
  public static long order(Path path) throws IOException {
    try (UnixSocket running = connect(path)) {
      running.timeout(LIMIT.multipliedBy(3));
      running.send(ORDER, List.of());
      String answer = running.receive(MOST_BYTES).text().strip();
      if (!answer.startsWith(DONE)) {
        throw new IOException(
            answer.startsWith(FAILED) ? answer.substring(FAILED.length()) : "no answer");
      }
      return Long.parseLong(answer, DONE.length(), answer.length(), 10);
    }
  }

  private static UnixSocket connect(Path path) throws IOException {
    try {
      return UnixSocket.connect(path.toString());
    } catch (IOException nobody) {
      String start =
          ". Is the service running? If not: systemctl enable --now kamille. Ask as root.";
      throw new IOException(nobody.getMessage() + start, nobody);
    }
  }

  /** Takes no further order, and tells the process that took over what is left to tell. */
  @Override
  public void close() {
    control.close();
    Heir last = heir;
    if (last != null) {
      last.end();
    }
  }
}
