package io.kamille.launcher.service;

import io.kamille.core.setting.WatchedFiles;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * This process as a service: what it takes from its manager or from the process before it, and what
 * it gives to the one after it. {@link #serve}, then {@link #stop}.
 */
public final class Service implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final String HOME = "kamille.home";
  private static final String MAIN = "io.kamille.launcher.Main";
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final ServiceManager manager;
  private final Inheritance inheritance;
  private final CountDownLatch toldToStop;
  private final WatchedFiles installed;
  private @Nullable Upgrade upgrade;
  // Volatile: set by the thread that hands over, read by the one that stops.
  private volatile boolean isSucceeded;

  /**
   * Looks who started us, and with which sockets.
   *
   * @param toldToStop opened when another process has taken over
   * @throws IOException if the process that we are to succeed gives us no sockets
   */
  public Service(CountDownLatch toldToStop) throws IOException {
    Map<String, String> environment = System.getenv();
    long self = ProcessHandle.current().pid();
    Optional<Predecessor> predecessor = Predecessor.of(environment);
    InheritedSockets sockets =
        predecessor.isPresent()
            ? predecessor.get().sockets()
            : InheritedSockets.of(environment, self);
    manager = ServiceManager.of(environment, self);
    inheritance = new Inheritance(sockets, predecessor);
    this.toldToStop = toldToStop;
    installed = installed(Path.of(System.getProperty(HOME, ".")));
  }

  /** What we begin with. */
  public Inheritance inheritance() {
    return inheritance;
  }

  /**
   * We serve: tells who waits for it, and waits for the order to upgrade.
   *
   * @param loops that the watchdog looks at
   * @param incumbent us, until another process takes over
   */
  public void serve(List<EventLoop> loops, Incumbent incumbent) {
    awaitOrders(incumbent);
    inheritance.predecessor().ifPresent(Predecessor::ready);
    // Not before: of a process that is not the main one yet, the manager takes no word.
    inheritance.sockets().closeRest(address -> manager.forget(name(address)));
    takeOrders();
    Map<String, List<Integer>> listening = incumbent.listeningSockets();
    listening.forEach((address, kept) -> manager.keep(name(address), kept));
    manager.ready("serving on " + String.join(", ", listening.keySet()));
    manager.watch(loops);
  }

  /** The manager allows no colon in a name. */
  private static String name(String address) {
    return address.replace(':', '-').replace("[", "").replace("]", "");
  }

  private void awaitOrders(Incumbent incumbent) {
    String directory = System.getenv("RUNTIME_DIRECTORY");
    String home = System.getProperty(HOME, "");
    if (directory == null || directory.isEmpty() || home.isEmpty()) {
      return;
    }
    Path control = Path.of(directory, "control");
    if (!inheritance.isFromPredecessor() && ControlSocket.isServed(control)) {
      LOG.log(Level.WARNING, control + " is another process's: this one takes no orders");
      return;
    }
    try {
      upgrade =
          new Upgrade(
              control,
              command(home),
              manager,
              incumbent,
              () -> {
                isSucceeded = true;
                toldToStop.countDown();
              },
              Upgrade.LIMIT);
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "no upgrade without a restart: " + failed.getMessage());
    }
  }

  private void takeOrders() {
    if (upgrade != null) {
      try {
        upgrade.publish();
      } catch (IOException failed) {
        LOG.log(Level.WARNING, "no upgrade without a restart: " + failed.getMessage());
      }
    }
  }

  /** What is installed now, with the words that we were started with. */
  private static List<String> command(String home) throws IOException {
    List<String> command = new ArrayList<>(List.of(Path.of(home, "bin", "kamille").toString()));
    String line = Files.readString(Path.of("/proc/self/cmdline"));
    List<String> ours = List.of(line.split("\0"));
    command.addAll(ours.subList(ours.indexOf(MAIN) + 1, ours.size()));
    return command;
  }

  /** Reads the configuration again, or upgrades if another version has been installed. */
  public void reload(Runnable reload) {
    Upgrade orders = upgrade;
    if (orders == null || !installed.isChanged()) {
      reload.run();
      return;
    }
    LOG.log(Level.INFO, "another version is installed: it takes over");
    orders.begin();
  }

  /** What every installation changes, as it is now. */
  static WatchedFiles installed(Path home) {
    WatchedFiles jar = new WatchedFiles(List.of(home.resolve("lib").resolve("kamille.jar")));
    jar.remember();
    return jar;
  }

  /** Whether another process has taken over. */
  public boolean isSucceeded() {
    return isSucceeded;
  }

  /** We stop accepting; what is under way takes no longer than {@code atMost}. */
  public void stop(Duration atMost) {
    if (!isSucceeded) {
      manager.stopping(atMost.plus(GRACE));
    }
  }

  @Override
  public void close() {
    inheritance.sockets().close();
    inheritance.predecessor().ifPresent(Predecessor::close);
    if (upgrade != null) {
      upgrade.close();
    }
  }
}
