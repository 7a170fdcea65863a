package io.kamille.cluster.log;

import io.kamille.cache.purge.PurgeTarget;

/** The cache of this node, as the log of the cluster purges it. One thread at a time. */
public interface LocalPurges {

  /**
   * Purges; it holds when this returns.
   *
   * @param number of the purge in the cluster; 0 if it has none yet
   * @return how many responses that were so far
   */
  long purge(long number, PurgeTarget target, boolean isSoft);

  /** Removes what is stored for a URI. */
  void invalidate(String uri);

  /** Removes everything. */
  void clear();

  /** Whether something is stored for a URL. Any thread. */
  default boolean stores(String url) {
    return false;
  }

  /** Whether no other process of this node serves, too. */
  default boolean isAlone() {
    return true;
  }

  /** Runs that when all purges so far hold for a later process, too. */
  void whenKept(Runnable action);
}
