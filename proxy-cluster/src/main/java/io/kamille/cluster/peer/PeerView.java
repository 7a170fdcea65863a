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
        public boolean isCurrent() {
          return false;
        }

        @Override
        public void invalidated(String uri) {}
      };

  /**
   * The number of the last cluster purge that is applied here, with all before it: the purge is in
   * the cache's table before this says so.
   */
  long applied();

  /** Whether this node has heard of all purges lately. */
  boolean isCurrent();

  /**
   * Has the other nodes remove what they have stored for that URI, without waiting: the answer to
   * an unsafe request has made it invalid (RFC 9111 §4.4).
   */
  void invalidated(String uri);
}
