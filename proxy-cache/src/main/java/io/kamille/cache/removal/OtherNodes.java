package io.kamille.cache.removal;

import io.kamille.cache.purge.PurgeTarget;

/** Other nodes, which have stored the same, or may have. Any thread; must not wait. */
public interface OtherNodes {

  /** Something was purged here because an origin asked for it, and has to be there. */
  void purged(PurgeTarget target);

  /**
   * Purges here and there, and tells {@code done} of it, on any thread.
   *
   * @param isSoft whether it is made stale, not removed
   */
  void purge(PurgeTarget target, boolean isSoft, Done done);

  /** Told of a purge. */
  @FunctionalInterface
  interface Done {

    /**
     * It is done, as far as it could be.
     *
     * @param status 200 if at all nodes; 202 if some will do it; 503 if nobody knows which
     * @param responses how many that were in all
     */
    void purged(int status, long responses);
  }
}
