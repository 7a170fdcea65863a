package io.kamille.launcher.service;

import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The process that is to take our place: started, given the listening sockets, and waited for until
 * it serves. Until then every failure ends it and leaves us as we were. One thread.
 */
final class Successor {

  private static final System.Logger LOG = System.getLogger("kamille.service");

  /*
   *   old                                  new
   *    │ starts it                          │
   *    │          ◄── take over ────────────│   the kernel says who asks: it must be the one we started
   *    │─── sockets N, descriptors ────────►│
   *    │          ◄── claim ────────────────│
   *    │─── yours, StateMessage ───────────►│   opens the disk, listens
   *    │─── remove, purge, clear ──────────►│   from now to the old one's end
   *    │          ◄── ready ────────────────│
   *    │─── go ────────────────────────────►│   becomes the main process, takes the control socket
   *
   * Each is one message of a socket that keeps their bounds. If the new one ends before it is
   * ready, the old one takes the disk back.
   *
   * Both accept from the same queues between "ready" and the old one's last accept: a listening
   * socket is one and the same in both processes, so that no handshake is lost.
   */
  static final String TAKE_OVER = "take over";
  static final String READY = "ready";
  static final String GO = "go";
  static final String SOCKETS = "sockets ";
  static final String CLAIM = "claim";
  static final String YOURS = "yours\n";
  private static final int MOST_BYTES = 4096;
  private static final List<String> NOT_INHERITED =
      List.of("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID");

  /*
   * A shell starts it in the background and ends, so that it is a child of the service manager:
   * that one would not wait for the end of a main process that is not, and kill it at every stop.
   */
  private static final String DETACHED = "note=$1; shift; \"$@\" </dev/null & echo $! >\"$note\"";

  private final ProcessHandle process;
  private final Duration limit;

  private Successor(ProcessHandle process, Duration limit) {
    this.process = process;
    this.limit = limit;
  }

  /**
   * Starts it.
   *
   * @param command how we were started
   * @param control where it finds us
   * @param limit for each of its steps
   */
  static Successor start(List<String> command, Path control, Duration limit) throws IOException {
    Path note = control.resolveSibling("successor." + ProcessHandle.current().pid());
    List<String> shell = new ArrayList<>(List.of("/bin/sh", "-c", DETACHED, "sh", note.toString()));
    shell.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(shell)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    Map<String, String> environment = builder.environment();
    NOT_INHERITED.forEach(environment::remove);
    environment.put(Predecessor.VARIABLE, control.toString());
    try {
      builder.start().waitFor();
      long processId = Long.parseLong(Files.readString(note).strip());
      return new Successor(
          ProcessHandle.of(processId).orElseThrow(() -> new IOException("it ended at once")),
          limit);
    } catch (NumberFormatException empty) {
      throw new IOException("no room for a file beside " + control, empty);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", interrupted);
    } finally {
      Files.deleteIfExists(note);
    }
  }

  long processId() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Whether {@code caller} is it, as the kernel knows. */
  boolean is(UnixSocket.Peer caller) {
    return caller.processId() == process.pid();
  }

  /**
   * Gives it the listening sockets, and what it claims, and waits until it serves.
   *
   * @return what it is told until our end, if it claimed anything
   * @throws IOException if it fails; it is ended then, and the incumbent has everything again
   */
  Optional<RemovalFeed> handOver(UnixSocket caller, Incumbent incumbent) throws IOException {
    RemovalFeed feed = null;
    try {
      caller.timeout(limit);
      sendSockets(caller, incumbent);
      String word = caller.receive(MOST_BYTES).text();
      if (word.equals(CLAIM)) {
        feed = new RemovalFeed(caller);
        caller.send(YOURS + StateMessage.write(incumbent.release(feed)), List.of());
        feed.begin();
        word = caller.receive(MOST_BYTES).text();
      }
      if (!word.equals(READY)) {
        throw new IOException(
            word.isEmpty() ? "the new process ended before it served" : "it said " + word);
      }
    } catch (IOException | RuntimeException failed) {
      end();
      if (feed != null) {
        feed.end();
        takeBack(incumbent, feed);
      }
      throw failed instanceof IOException known ? known : new IOException(failed);
    }
    if (feed != null) {
      feed.keepNothing();
    }
    return Optional.ofNullable(feed);
  }

  private static void sendSockets(UnixSocket caller, Incumbent incumbent) throws IOException {
    List<Integer> descriptors =
        incumbent.listeningSockets().values().stream().flatMap(List::stream).toList();
    int sent = 0;
    do {
      int end = Math.min(descriptors.size(), sent + UnixSocket.MOST_DESCRIPTORS);
      caller.send(SOCKETS + (descriptors.size() - end), descriptors.subList(sent, end));
      sent = end;
    } while (sent < descriptors.size());
  }

  private static void takeBack(Incumbent incumbent, RemovalFeed feed) {
    try {
      incumbent.takeBack(feed::playTo);
    } catch (IOException lost) {
      LOG.log(
          Level.ERROR,
          "the disk tier is off until a restart; purge everything behind it: " + lost.getMessage());
    }
  }

  /** Ends it, if it lives, and waits until it is gone. */
  void end() {
    process.destroyForcibly();
    process.onExit().completeOnTimeout(process, limit.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  /** In words, how it ended. */
  String ending() {
    return process.isAlive()
        ? "it did not ask for the sockets within " + limit.toSeconds() + " s"
        : "it ended; the log says why";
  }
}
