package io.kamille.perf.host;

import io.kamille.perf.host.Workbench.Core;
import java.io.IOException;
import java.util.List;

/**
 * A network namespace for the load, with a cable (veth) to that of the servers. What a side
 * receives is worked on by its own core, as between two machines.
 */
public final class LoadNetwork {

  /** Where servers listen to be reached from there, too; for benchmarks (RFC 2544). */
  public static final String SERVER_ADDRESS = "198.18.77.1";

  /** Of the namespace, and of the servers' end of the cable. */
  private static final String NAME = "kamille-bench";

  private static final String MAKE =
      """
      for rest in link netns; do ip $rest del NAME 2>/dev/null || true; done
      set -e
      ip netns add NAME
      ip link add NAME type veth peer name load netns NAME
      ip addr add ADDRESS/30 dev NAME
      ip -n NAME addr add 198.18.77.2/30 dev load
      ip link set NAME up
      ip -n NAME link set load up
      echo 1 >/sys/class/net/NAME/queues/rx-0/rps_cpus
      ip netns exec NAME sh -c 'echo 2 >/sys/class/net/load/queues/rx-0/rps_cpus'
      """
          .replace("NAME", NAME)
          .replace("ADDRESS", SERVER_ADDRESS);

  private LoadNetwork() {}

  /**
   * Makes it, until the bench is cleared.
   *
   * @return the beginning of a command that is run there
   * @throws IOException if it cannot be made: that needs root and iproute2
   */
  public static List<String> open(Workbench bench) throws IOException, InterruptedException {
    List<String> remove = List.of("ip", "netns", "del", NAME);
    bench.undo(() -> new ProcessBuilder(remove).start().waitFor());
    bench.run(Core.OTHERS, List.of("sh", "-c", MAKE));
    return List.of("ip", "netns", "exec", NAME);
  }
}
