package io.kamille.perf.host;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Whatever a comparison starts or changes on this machine, put back when it ends, in any way but a
 * kill -9. Any thread.
 */
public final class Workbench implements AutoCloseable {

  /*
   * A shutdown hook closes the bench too, for Ctrl-C. Should even that not run, the kernel ends the
   * processes when the thread that started them is gone (PR_SET_PDEATHSIG, by setpriv).
   */

  /** What the core a process is pinned to is for. */
  public enum Core {
    /** The server under test, alone. */
    SERVER("0"),
    /** Load and origin. */
    OTHERS("1"),
    /** All cores, as a user has them. */
    ALL("0-" + (Runtime.getRuntime().availableProcessors() - 1));

    private final String list;

    Core(String list) {
      this.list = list;
    }

    /** As taskset takes them. */
    String list() {
      return list;
    }
  }

  /** Servers that give up root must reach what is theirs below; nobody else learns its name. */
  private static final FileAttribute<Set<PosixFilePermission>> PASSABLE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x"));

  /** Below the range that connections get theirs from. */
  private static final int LOCK_PORT = 27_315;

  /** For everything but connections to clients and origins. */
  private static final int OTHER_DESCRIPTORS = 1000;

  private final Path directory;
  private final Deque<AutoCloseable> undo = new ArrayDeque<>();
  private final Thread hook = new Thread(this::putBack, "workbench");
  private boolean isClosed;

  private Workbench(Path directory) {
    this.directory = directory;
  }

  /**
   * An empty bench with a directory of its own.
   *
   * @throws IOException if the machine has no second core or lacks a program we need, or if another
   *     bench is open: they would measure each other
   */
  public static Workbench open() throws IOException {
    if (Runtime.getRuntime().availableProcessors() < 2) {
      throw new IOException("two cores are needed: one for the server, one for load and origin");
    }
    Programs.require("taskset", "util-linux");
    Programs.require("setpriv", "util-linux");
    ServerSocket lock = lock();
    var bench = new Workbench(Files.createTempDirectory("kamille-bench", PASSABLE));
    Runtime.getRuntime().addShutdownHook(bench.hook);
    bench.undo(lock);
    bench.undo(() -> deleteTree(bench.directory));
    return bench;
  }

  /** Takes the port that stands for the one bench of this machine; the kernel takes it back. */
  private static ServerSocket lock() throws IOException {
    try {
      return new ServerSocket(LOCK_PORT, 1, InetAddress.getLoopbackAddress());
    } catch (BindException taken) {
      throw new IOException(
          "another bench is running on this machine (port " + LOCK_PORT + "); wait for its end",
          taken);
    }
  }

  /** A new directory that disappears with the bench. */
  public Path directory(String name) throws IOException {
    return Files.createDirectories(directory.resolve(name));
  }

  /** A loopback port that nobody listens on. */
  public static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** How many connections a server can have open here, with one to an origin beside each. */
  public static int possibleConnections(int wanted) {
    var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long possible = (system.getMaxFileDescriptorCount() - OTHER_DESCRIPTORS) / 2;
    if (possible < wanted) {
      System.out.println(
          "note: " + possible + " connections, not " + wanted + ": raise the hard ulimit -n");
    }
    return Math.clamp(possible, 1, wanted);
  }

  /** Remembers what to do at the end; last in, first out. */
  public synchronized void undo(AutoCloseable action) {
    undo.push(action);
  }

  /** Starts a program on that core until the bench is closed; what it prints goes to a file. */
  public synchronized Child start(String name, Core core, List<String> command) throws IOException {
    checkOpen();
    Path log = directory.resolve(name + ".log");
    var process =
        new ProcessBuilder(pinned(core, command))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    var child = new Child(name, process, log);
    undo(child::stop);
    return child;
  }

  /** Runs a program on that core to its end and returns what it printed. */
  public String run(Core core, List<String> command) throws IOException, InterruptedException {
    Process process;
    synchronized (this) {
      checkOpen();
      process = new ProcessBuilder(pinned(core, command)).redirectErrorStream(true).start();
      undo(process::destroyForcibly);
    }
    String printed = process.inputReader().readAllAsString();
    int status = process.waitFor();
    if (status != 0) {
      throw new IOException(command.getFirst() + " ended with status " + status + ": " + printed);
    }
    return printed;
  }

  /** Pins this process, all its threads, to that core: for load that is made here. */
  public void moveTo(Core core) throws IOException, InterruptedException {
    String pid = Long.toString(ProcessHandle.current().pid());
    run(core, List.of("taskset", "-a", "-c", "-p", core.list, pid));
  }

  private void checkOpen() throws IOException {
    if (isClosed) {
      throw new IOException("the bench is being cleared");
    }
  }

  /**
   * Signals that a shell or nohup made this process ignore mean something to its children again.
   */
  private static List<String> pinned(Core core, List<String> command) {
    var words = new ArrayList<>(List.of("env", "--default-signal=HUP,INT,TERM"));
    words.addAll(List.of("setpriv", "--pdeathsig", "TERM"));
    words.addAll(List.of("taskset", "-c", core.list));
    words.addAll(command);
    return words;
  }

  @Override
  public void close() {
    putBack();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      return;
    }
  }

  private synchronized void putBack() {
    isClosed = true;
    while (!undo.isEmpty()) {
      AutoCloseable action = undo.pop();
      try {
        action.close();
      } catch (Exception e) {
        System.err.println("bench: could not clear up: " + e);
      }
    }
  }

  /** Deletes a directory with all that is in it, if it is there. */
  public static void deleteTree(Path top) throws IOException {
    if (!Files.exists(top)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(top)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
