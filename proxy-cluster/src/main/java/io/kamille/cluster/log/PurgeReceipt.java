package io.kamille.cluster.log;

import io.kamille.core.http.StatusCode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a purge at all nodes. Immutable.
 *
 * @param number its number in the log; 0 if it is not there
 * @param safeIn after so long no node serves what was purged; zero if all have done it, null if
 *     nodes that are away may go on
 * @param nodes each node that is known, by name
 */
public record PurgeReceipt(long number, @Nullable Duration safeIn, List<AtNode> nodes) {

  public PurgeReceipt {
    nodes = List.copyOf(nodes);
  }

  /** Whether a majority keeps it, so that nodes that are away will do it. */
  public boolean isLogged() {
    return number > 0;
  }

  /** Whether all have done it. */
  public boolean isComplete() {
    return isLogged() && nodes.stream().allMatch(AtNode::isDone);
  }

  /** As HTTP says it: done at all nodes, at some later, or not in the log. */
  public int status() {
    if (!isLogged()) {
      return StatusCode.SERVICE_UNAVAILABLE;
    }
    return isComplete() ? StatusCode.OK : StatusCode.ACCEPTED;
  }

  /**
   * What became of it at one node.
   *
   * @param purged how many responses it has removed or made stale there so far
   */
  public record AtNode(String node, boolean isDone, long purged) {}
}
