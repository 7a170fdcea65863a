package io.kamille.cache.index;

import org.jspecify.annotations.Nullable;

/**
 * A cache without content: what a policy would hold, from a sample of what is asked for. Confined
 * to whoever holds the lock of the index.
 */
final class GhostCache {

  /*
   * A cache of one 64th of the size, which sees one 64th of the keys, chosen by hash, hits as often as
   * the whole does (Waldspurger, Saemundsson, Ahmad, Park 2017).
   */
  private static final int LEAST_BUCKETS = 256;

  private final Replacement order;
  private @Nullable GhostNode[] buckets = new GhostNode[LEAST_BUCKETS];

  GhostCache(Policy policy, long maximumUnits) {
    this.order = new Replacement(policy, maximumUnits, LEAST_BUCKETS);
  }

  private static final class GhostNode extends Node {

    private final long hash;
    private @Nullable GhostNode following;

    GhostNode(long hash) {
      this.hash = hash;
    }

    @Override
    long hash() {
      return hash;
    }
  }

  /** Something was asked for: what it weighs if it would have been here, or 0. */
  int use(long hash) {
    GhostNode node = find(hash);
    if (node == null) {
      return 0;
    }
    order.touch(node);
    return node.units();
  }

  /** Something was asked for that was not here, and is now stored. */
  void store(long hash, int units) {
    GhostNode node = new GhostNode(hash);
    if (order.count() >= buckets.length) {
      grow();
    }
    link(node);
    order.add(node, units);
    for (Node out = order.takeSurplus(); out != null; out = order.takeSurplus()) {
      unlink((GhostNode) out);
    }
  }

  /** What is stored weighs so much now; false if it is not here. */
  boolean weigh(long hash, int units) {
    GhostNode node = find(hash);
    if (node != null) {
      order.weigh(node, units);
    }
    return node != null;
  }

  /** Something was removed, and not for want of room. */
  void forget(long hash) {
    GhostNode node = find(hash);
    if (node != null) {
      order.remove(node);
      unlink(node);
    }
  }

  void clear() {
    for (Node node = order.takeColdest(); node != null; node = order.takeColdest()) {
      unlink((GhostNode) node);
    }
  }

  private @Nullable GhostNode find(long hash) {
    GhostNode node = buckets[bucket(hash)];
    while (node != null && node.hash != hash) {
      node = node.following;
    }
    return node;
  }

  private void link(GhostNode node) {
    int bucket = bucket(node.hash);
    node.following = buckets[bucket];
    buckets[bucket] = node;
  }

  private void unlink(GhostNode node) {
    int bucket = bucket(node.hash);
    GhostNode before = null;
    for (GhostNode each = buckets[bucket]; each != null; each = each.following) {
      if (each == node) {
        if (before == null) {
          buckets[bucket] = node.following;
        } else {
          before.following = node.following;
        }
        return;
      }
      before = each;
    }
  }

  private void grow() {
    @Nullable GhostNode[] old = buckets;
    buckets = new GhostNode[2 * old.length];
    for (GhostNode first : old) {
      GhostNode node = first;
      while (node != null) {
        GhostNode following = node.following;
        link(node);
        node = following;
      }
    }
  }

  private int bucket(long hash) {
    return (int) (hash ^ hash >>> 32) & (buckets.length - 1);
  }
}
