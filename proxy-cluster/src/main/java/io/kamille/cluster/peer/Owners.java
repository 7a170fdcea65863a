package io.kamille.cluster.peer;

import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.choose.ConsistentHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Which of the current nodes owns a key. Immutable; any thread. */
final class Owners {

  /*
   * Rendezvous hashing by weight, with the distances of ConsistentHash. The keys come from a hash
   * by the cluster's secret: who does not know that cannot aim at a node.
   *
   * The weight of a node that joins grows over five minutes; one that drains has none. While there is
   * such a node, a key has a former owner too: who owns it if those that join were not there, and
   * those that drain stayed. That one may have stored it.
   *
   * The bound on loads holds for other nodes only, and from some requests in flight on: with two of
   * them, any distribution but one is out of balance. A request of ours for a key of ours goes to
   * the origin in any case, so that our own load does not count.
   */
  /** How long a node that has joined takes to get its whole part. */
  static final Duration WARM = Duration.ofMinutes(5);

  private static final int UNBOUND = 64;
  private static final double LEAST_WEIGHT = 0.01;

  private final List<PeerNode> nodes;
  private final long[] seeds;
  private final String self;

  Owners(List<PeerNode> nodes, String self) {
    this.nodes = List.copyOf(nodes);
    this.self = self;
    this.seeds = nodes.stream().mapToLong(Owners::seed).toArray();
  }

  private static long seed(PeerNode node) {
    byte[] name = node.name().getBytes(StandardCharsets.UTF_8);
    return HashKey.hash(HashKey.START, name, 0, name.length);
  }

  List<PeerNode> nodes() {
    return nodes;
  }

  /** The owner; null if there is none. */
  @Nullable PeerNode owner(long key, long nowNanos) {
    return nearest(key, nowNanos, null, _ -> 0);
  }

  /**
   * Whom to ask: the owner, or who is next where it has too much to do.
   *
   * @param but who is passed over; null for nobody
   * @param inFlight the requests that are with a node
   */
  @Nullable PeerNode nearest(
      long key, long nowNanos, @Nullable PeerNode but, ToIntFunction<PeerNode> inFlight) {
    double total = 1;
    double weight = 0;
    for (PeerNode node : nodes) {
      total += inFlight.applyAsInt(node);
      weight += isSelf(node) ? 0 : weight(node, nowNanos);
    }
    PeerNode best = null;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < seeds.length; i++) {
      PeerNode node = nodes.get(i);
      double own = weight(node, nowNanos);
      double distance = HashKey.distance(key ^ seeds[i], own);
      double most = Math.max(UNBOUND, ConsistentHash.BOUND * total * own / weight);
      boolean mayHave = isSelf(node) || inFlight.applyAsInt(node) < most;
      if (own > 0 && distance < least && mayHave && !node.equals(but)) {
        least = distance;
        best = node;
      }
    }
    return best;
  }

  /** Who had the key before nodes joined, and before others began to leave; null for nobody. */
  @Nullable PeerNode former(long key, long nowNanos) {
    PeerNode best = null;
    double least = Double.POSITIVE_INFINITY;
    boolean isMoving = false;
    for (int i = 0; i < seeds.length; i++) {
      boolean isWarming = nowNanos - nodes.get(i).sinceNanos() < WARM.toNanos();
      double distance = HashKey.distance(key ^ seeds[i], 1);
      isMoving |= isWarming || nodes.get(i).isDraining();
      if (!isWarming && distance < least) {
        least = distance;
        best = nodes.get(i);
      }
    }
    return isMoving ? best : null;
  }

  boolean isSelf(PeerNode node) {
    return node.name().equals(self);
  }

  private double weight(PeerNode node, long nowNanos) {
    if (node.isDraining()) {
      return 0;
    }
    double share = (double) (nowNanos - node.sinceNanos()) / WARM.toNanos();
    return Math.clamp(share, LEAST_WEIGHT, 1);
  }
}
