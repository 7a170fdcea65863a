package io.kamille.core.gate;

/** Which requests a loop sheds, by how long they have waited for it. Confined to its loop. */
public interface SheddingLaw {

  /** Makes the law of one loop. */
  @FunctionalInterface
  interface Start {

    /**
     * A law that sheds nothing yet.
     *
     * @param targetNanos how late the loop may be; 0 for as late as it will
     */
    SheddingLaw at(long targetNanos, long nowNanos);
  }

  /** Whether a request is shed that has waited for the loop so long. */
  boolean sheds(long latenessNanos);

  /** Whether one is that would be forwarded. */
  boolean shedsForward(long latenessNanos);

  /**
   * A turn is over and the next begins.
   *
   * @param lengthNanos how long the last request of the turn had to wait for those before it
   * @return whether a window is over as well
   */
  boolean turn(long nowNanos, long lengthNanos);

  /** Nothing has been read since then. Between any two times the loop has polled. */
  void unread(long nowNanos, long sinceNanos);
}
