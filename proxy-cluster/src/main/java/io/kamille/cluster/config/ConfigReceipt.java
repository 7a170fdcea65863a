package io.kamille.cluster.config;

import java.util.List;

/**
 * What became of a change of the configuration of all nodes. Immutable.
 *
 * @param state how far it has come
 * @param number of the change; 0 if it is not in the log
 * @param nodes each member that has answered, by name
 */
public record ConfigReceipt(Outcome state, long number, List<AtNode> nodes) {

  /** How far it has come. */
  public enum Outcome {
    IN_FORCE,
    /** A node cannot put it in force, so no node did. */
    NOT_PREPARED,
    /** Another change was first. */
    STALE,
    /** Nobody has said in time that it is in the log. */
    NO_QUORUM
  }

  public ConfigReceipt {
    nodes = List.copyOf(nodes);
  }

  /**
   * What became of it at one node.
   *
   * @param problem why it is not in force, or cannot be; empty if there is none
   */
  public record AtNode(String node, String problem) {}
}
