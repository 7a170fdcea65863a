package io.kamille.cache.removal;

import io.kamille.cache.purge.PurgeTarget;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Other nodes, which have stored the same, or may have. Any thread; must not wait. */
public interface OtherNodes {

  /**
   * These were purged here because of an answer to an unsafe request, and have to be there.
   *
   * @return completes once they will be, whatever becomes of this process
   */
  CompletionStage<?> purged(List<PurgeTarget> targets);

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
     * @param status 200 if at all nodes; 202 if some will do it; 400 if it names too much; 503 if
     *     nobody knows which
     * @param responses how many that were in all
     */
    void purged(int status, long responses);
  }
}
