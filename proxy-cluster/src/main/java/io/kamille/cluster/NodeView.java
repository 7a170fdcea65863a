package io.kamille.cluster;

import io.kamille.cluster.current.Report;
import java.util.List;

/**
 * A node as this one sees it.
 *
 * @param state {@code member}, {@code draining} or {@code away}
 * @param current whether it says that it has missed no purge
 * @param applied the number of the last purge that it has applied; 0 if it has said nothing yet
 * @param config the number of the last change of the configuration that it has seen to
 * @param diverged whether what nodes share of it differs from that of the leader
 * @param version of its release; empty if it has said nothing yet
 * @param level of what it can read; 0 if it has said nothing yet
 * @param seconds since its last report; −1 if there was none
 */
public record NodeView(
    String node,
    String state,
    boolean voter,
    boolean leader,
    boolean current,
    long applied,
    long config,
    boolean diverged,
    String version,
    int level,
    String peers,
    double seconds) {

  /** What all nodes can read. One that has said nothing yet counts as the oldest that may be. */
  public static int lowestLevel(List<NodeView> nodes) {
    return nodes.stream()
        .mapToInt(node -> node.level == 0 ? Report.OLDEST_LEVEL : node.level)
        .min()
        .orElse(Report.LEVEL);
  }
}
