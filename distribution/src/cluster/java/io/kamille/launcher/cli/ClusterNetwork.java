package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.util.List;

/** A network namespace for each node, on networks that nodes can be cut off from. */
final class ClusterNetwork implements AutoCloseable {

  /*
   *   namespaces   a ── b ── c   10.N.M.1 to 10.N.M.3, by a bridge for each M
   *   here         the origin    10.N.M.254, the first bridge
   */
  private static final int NETWORKS = 200;

  private final long process = ProcessHandle.current().pid() % 100_000;
  private final long first = process / NETWORKS % (NETWORKS / 2) * 2;
  private final List<String> names;
  private final int count;

  /** Makes so many networks. Skips the test where this user may not. */
  ClusterNetwork(List<String> names, int count) throws Exception {
    this.names = names;
    this.count = count;
    assumeThat(canRun("ip", "link", "add", bridge(0), "type", "bridge"))
        .as("whether this user may make networks")
        .isTrue();
    run("ip", "addr", "add", here() + "/24", "dev", bridge(0));
    run("ip", "link", "set", bridge(0), "up");
    for (int i = 1; i < count; i++) {
      run("ip", "link", "add", bridge(i), "type", "bridge");
      run("ip", "link", "set", bridge(i), "up");
    }
    for (String name : names) {
      run("ip", "netns", "add", space(name));
      run("ip", "-n", space(name), "link", "set", "lo", "up");
      for (int i = 0; i < count; i++) {
        join(name, i);
      }
    }
  }

  private void join(String name, int number) throws Exception {
    String space = space(name);
    String wire = wire(name, number);
    String inside = "eth" + number;
    run("ip", "link", "add", wire, "type", "veth", "peer", "name", inside, "netns", space);
    run("ip", "link", "set", wire, "master", bridge(number), "up");
    run("ip", "-n", space, "addr", "add", address(name, number) + "/24", "dev", inside);
    run("ip", "-n", space, "link", "set", inside, "up");
  }

  /** The address of this process. */
  String here() {
    return network(0) + "254";
  }

  String address(String name, int number) {
    return network(number) + (1 + names.indexOf(name));
  }

  private String network(int number) {
    return "10." + (1 + process % NETWORKS) + "." + (first + number) + ".";
  }

  String space(String name) {
    return "km" + process + name;
  }

  private String bridge(int number) {
    return "kmb" + process + "n" + number;
  }

  private String wire(String name, int number) {
    return "kmv" + process + name + number;
  }

  /** Cuts a node off from that network, or ends that. */
  void cut(String name, int number, boolean isCut) throws Exception {
    run("ip", "link", "set", wire(name, number), isCut ? "down" : "up");
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), US_ASCII);
    assertThat(process.waitFor()).as("%s: %s", String.join(" ", command), output).isZero();
  }

  private static boolean canRun(String... command) {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException none) {
      return false;
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  @Override
  public void close() {
    for (String name : names) {
      canRun("ip", "netns", "del", space(name));
      for (int i = 0; i < count; i++) {
        canRun("ip", "link", "del", wire(name, i));
      }
    }
    for (int i = 0; i < count; i++) {
      canRun("ip", "link", "del", bridge(i));
    }
  }
}
