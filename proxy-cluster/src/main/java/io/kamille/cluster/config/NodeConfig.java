package io.kamille.cluster.config;

/** The configuration of this node, as the cluster changes it. One call at a time; may block. */
public interface NodeConfig {

  /** Why a change cannot come into force here; empty if it can. Changes nothing. */
  String prepare(String change);

  /**
   * Puts a change in force, whatever was in force before. Says why that is not possible; empty if
   * it is done.
   */
  String apply(String change);

  /** A digest of all that nodes share, as it is in force here. Never waits. */
  String digest();
}
