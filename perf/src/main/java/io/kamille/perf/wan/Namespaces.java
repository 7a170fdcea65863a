package io.kamille.perf.wan;

import io.kamille.perf.host.Programs;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces without any way out, one for servers and one for clients, each with a TUN
 * device that the emulator holds the other end of. A shell of its own removes them when this
 * process is gone, however it ends. Any thread.
 */
public final class Namespaces implements AutoCloseable {

  /** Where servers listen. */
  public static final String SERVER_ADDRESS = "10.77.0.1";

  /** Links have the numbers from 1 to this. */
  public static final int GREATEST_LINK = 250;

  static final String DEVICE = "w0";

  /** Below that of an emulator. */
  private static final int CLIENT_PRIORITY = 3;

  private static final long PATIENCE_SECONDS = 10;
  private static final String CLIENT_NETWORK = "10.78.0.0/16";

  private final String servers;
  private final String clients;
  private final Process guard;

  private Namespaces(String servers, String clients, Process guard) {
    this.servers = servers;
    this.clients = clients;
    this.guard = guard;
  }

  /**
   * Makes both namespaces.
   *
   * @throws IOException if a program or a privilege is missing; says which
   */
  public static Namespaces open() throws IOException {
    Programs.require("ip", "iproute2");
    Programs.require("setpriv", "util-linux");
    long pid = ProcessHandle.current().pid();
    String servers = "kamille-s" + pid;
    String clients = "kamille-c" + pid;
    var spaces = new Namespaces(servers, clients, guard(servers, clients));
    try {
      spaces.make(servers);
      spaces.make(clients);
      ip("-n", servers, "addr", "add", SERVER_ADDRESS + "/32", "dev", DEVICE);
      ip("-n", servers, "route", "add", CLIENT_NETWORK, "dev", DEVICE);
      ip("-n", clients, "route", "add", "local", CLIENT_NETWORK, "dev", "lo");
      ip(
          "-n",
          clients,
          "route",
          "add",
          SERVER_ADDRESS + "/32",
          "dev",
          DEVICE,
          "src",
          address(1, 1));
      return spaces;
    } catch (IOException e) {
      spaces.close();
      throw new IOException(
          "network namespaces cannot be made (root or CAP_NET_ADMIN and CAP_SYS_ADMIN are needed): "
              + e.getMessage(),
          e);
    }
  }

  /**
   * Ends with this process: its standard input closes then. Signals to a terminal do not end it.
   */
  private static Process guard(String... names) throws IOException {
    var script = new StringBuilder("trap '' INT TERM HUP; cat >/dev/null;");
    for (String name : names) {
      script.append(" ip netns del ").append(name).append(';');
    }
    return new ProcessBuilder("setsid", "sh", "-c", script.toString())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private void make(String name) throws IOException {
    ip("netns", "add", name);
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "tuntap", "add", "dev", DEVICE, "mode", "tun");
    // The device's own queue must never be the bottleneck: the default of 500 packets drops.
    ip("-n", name, "link", "set", DEVICE, "mtu", "1500", "txqueuelen", "20000", "up");
    ip(in(name, List.of("sysctl", "-q", "-w", "net.ipv4.tcp_no_metrics_save=1")));
    ip(in(name, List.of("sysctl", "-q", "-w", "net.ipv4.ip_local_port_range=1024 65535")));
  }

  private static String[] in(String name, List<String> command) {
    var words = new ArrayList<>(List.of("netns", "exec", name));
    words.addAll(command);
    return words.toArray(String[]::new);
  }

  private static void ip(String... words) throws IOException {
    var command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = process.inputReader().readAllAsString().strip();
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + printed);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * The address of a client behind a link: a socket bound to it uses that link.
   *
   * @param link from 1 on
   * @param client from 1 to 254
   */
  public static String address(int link, int client) {
    return "10.78." + link + "." + client;
  }

  /** The words that start a command where servers are; it ends with this process. */
  public List<String> atServer(List<String> command) {
    return exec(servers, command);
  }

  /** The same where clients are. */
  public List<String> atClient(List<String> command) {
    return exec(clients, command);
  }

  private static List<String> exec(String name, List<String> command) {
    var words = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", "ip"));
    words.addAll(List.of(in(name, command)));
    return words;
  }

  /**
   * Decides how long the trains of segments are that the server's kernel makes: one segment each,
   * as in 2001, or up to 64 KiB. Sockets accepted before keep theirs.
   */
  public void segmentTrains(boolean areLong) throws IOException {
    String bytes = areLong ? "65536" : "2000";
    String segments = areLong ? "65535" : "1";
    ip("-n", servers, "link", "set", DEVICE, "gso_max_size", bytes, "gso_max_segs", segments);
  }

  /** Sets how both ends of new connections control congestion. */
  public void controlCongestion(String algorithm) throws IOException {
    for (String name : List.of(servers, clients)) {
      ip(in(name, List.of("sysctl", "-q", "-w", "net.ipv4.tcp_congestion_control=" + algorithm)));
    }
  }

  /** Sets how many new connections the kernel holds for a server that listens from now on. */
  public void queueConnections(int most) throws IOException {
    ip(in(servers, List.of("sysctl", "-q", "-w", "net.core.somaxconn=" + most)));
  }

  /** Does something on a thread that is where servers are; sockets belong where they are made. */
  public <T> T callAtServer(Callable<T> call) throws IOException, InterruptedException {
    return callIn(serverNetwork(), call);
  }

  /** Does something on a thread that is where clients are; sockets belong where they are made. */
  public <T> T callAtClient(Callable<T> call) throws IOException, InterruptedException {
    return callIn(clientNetwork(), call);
  }

  /** The same on a thread of real-time priority. It must rest often, or nobody else works. */
  public <T> T callAtClientInTime(Callable<T> call) throws IOException, InterruptedException {
    return callIn(
        clientNetwork(),
        () -> {
          try (Arena scope = Arena.ofConfined()) {
            var posix = new Posix(scope);
            posix.sharpenTimers();
            posix.becomeRealTime(CLIENT_PRIORITY);
          }
          return call.call();
        });
  }

  private static <T> T callIn(Path network, Callable<T> call)
      throws IOException, InterruptedException {
    var task =
        new FutureTask<T>(
            () -> {
              enter(network);
              return call.call();
            });
    Thread.ofPlatform().name("namespace").daemon().start(task);
    try {
      return task.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(cause.getMessage(), cause);
    }
  }

  /** The calling thread stays there until its end. */
  private static void enter(Path network) throws IOException {
    try (Arena scope = Arena.ofConfined()) {
      var posix = new Posix(scope);
      int there = posix.open(network.toString(), Posix.CLOSE_ON_EXEC);
      try {
        posix.enterNetwork(there);
      } finally {
        posix.close(there);
      }
    }
  }

  Path serverNetwork() {
    return Path.of("/run/netns", servers);
  }

  Path clientNetwork() {
    return Path.of("/run/netns", clients);
  }

  /**
   * Packets that a device dropped before the emulator saw them: has to be 0 after a measurement.
   */
  public long droppedByDevices() throws IOException {
    return dropped(servers) + dropped(clients);
  }

  private static long dropped(String name) throws IOException {
    List<String> command =
        exec(name, List.of("cat", "/sys/class/net/" + DEVICE + "/statistics/tx_dropped"));
    String line = Programs.firstLine(command);
    try {
      return Long.parseLong(line);
    } catch (NumberFormatException e) {
      throw new IOException(name + ": no statistics: " + line, e);
    }
  }

  /** Removes both namespaces; what still runs in them keeps nothing of them but loopback. */
  @Override
  public void close() {
    try {
      guard.getOutputStream().close();
      guard.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (IOException gone) {
      guard.destroy();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
