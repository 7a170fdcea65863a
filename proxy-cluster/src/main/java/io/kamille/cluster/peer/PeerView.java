package io.kamille.cluster.peer;

/** What this node knows of the cluster's purges. Any thread; must not block. */
public interface PeerView {

  /** Of a node that knows nothing yet: it asks nobody, and what it has stored is no answer. */
  PeerView NONE =
      new PeerView() {
        @Override
        public long applied() {
          return -1;
        }

        @Override
        public long begun() {
          return -1;
        }

        @Override
        public boolean isCurrent() {
          return false;
        }
      };

  /**
   * The number of the last cluster purge that is applied here, with all before it: the purge is in
   * the cache's table before this says so.
   */
  long applied();

  /**
   * The number of the last one that may be in the table already. A fetch asks for it: the table
   * tells a fetch of no purge that came before it.
   */
  long begun();

  /** Whether this node has heard of all purges lately. */
  boolean isCurrent();
}
