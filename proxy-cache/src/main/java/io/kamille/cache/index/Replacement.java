package io.kamille.cache.index;

import org.jspecify.annotations.Nullable;

/**
 * Which nodes to give up when they weigh more than is allowed, by W-TinyLFU or by LRU; the policy
 * may change at any moment, and every node stays. Confined to whoever holds the lock.
 */
@SuppressWarnings("ReferenceEquality") // a node is itself
final class Replacement {

  /*
   * W-TinyLFU (Einziger, Friedman, Manes 2017): new nodes come into a window, in which the one used
   * last stays. What falls out of it is a candidate for the main part, probation and protected, and
   * gets in if it was asked for more often than what has to leave for it. A large candidate competes
   * with all of those together (Einziger, Eytan, Friedman, Manes 2021, "aggregated victims"), and one
   * larger than the window competes at once: so one large object does not push out many small ones.
   * What was asked for ten times lately gets in whatever leaves for it, and what was asked for six times
   * does in one case out of 128: so hot files come in, and nobody closes the main part for good by
   * making its coldest nodes look warm.
   *
   * LRU is the same with a window that takes everything. Nodes of the main part are given up first,
   * coldest first, or come into the window when they are used. A node of more than a 64th of all is
   * taken only if it was asked for four times lately, as far as the sketch tells: a file that is asked
   * for once looks like two or three times in it.
   *
   * So switching to LRU moves nothing. Switching back makes the window's list that of probation and
   * begins a new one. What was still on probation from before is colder than all of that; it becomes
   * the remnants, which are given up first, and is put behind probation a few nodes with every call.
   *
   *   LRU          window · · · · · · · · · · · · · · · protected · probation · (remnants)
   *   W-TinyLFU    window    protected · probation · (remnants)
   *                stays ◄─────────────────────────────────────────────► leaves
   */
  private static final int WINDOW_DIVISOR = 100;
  private static final double PROTECTED_SHARE = 0.8;
  private static final int LARGE_DIVISOR = 64;
  private static final int OFTEN = 4;
  private static final int WARM = 6;
  private static final int HOT = 10;
  private static final int CHANCE_MASK = 127;
  private static final int REMNANTS_PER_CALL = 8;

  private final long maximumUnits;
  private final long windowUnits;
  private final long protectedUnits;
  private final FrequencySketch sketch;

  private NodeList window = new NodeList(1);
  private NodeList probation = new NodeList(2);
  private NodeList remnants = new NodeList(3);
  private final NodeList protectedNodes = new NodeList(4);

  private Policy policy;
  private long count;
  private long random = 0x9e3779b97f4a7c15L;

  /** A large node that came last and has to compete, or null. */
  private @Nullable Node large;

  /** The node that others are just leaving for, or null. */
  private @Nullable Node admitted;

  /**
   * An order of nothing.
   *
   * @param expectedNodes how many nodes the sketch has counters for from the start
   */
  Replacement(Policy policy, long maximumUnits, long expectedNodes) {
    this.policy = policy;
    this.maximumUnits = maximumUnits;
    this.windowUnits = Math.max(1, maximumUnits / WINDOW_DIVISOR);
    this.protectedUnits = (long) ((maximumUnits - windowUnits) * PROTECTED_SHARE);
    this.sketch = new FrequencySketch(expectedNodes);
  }

  Policy policy() {
    return policy;
  }

  /** How many nodes there are. */
  long count() {
    return count;
  }

  /** What all nodes weigh. */
  long units() {
    return window.units() + probation.units() + remnants.units() + protectedNodes.units();
  }

  long maximumUnits() {
    return maximumUnits;
  }

  /** What the frequencies take on the heap, nearly. */
  long heapBytes() {
    return sketch.heapBytes();
  }

  /**
   * Orders by that policy from now on.
   *
   * @return false if the last switch has still left something to do; nothing has changed then
   */
  boolean choose(Policy other) {
    if (other == policy) {
      return true;
    }
    if (remnants.first() != null) {
      return false;
    }
    if (other == Policy.TINYLFU) {
      NodeList empty = remnants;
      remnants = probation;
      probation = window;
      window = empty;
    }
    policy = other;
    return true;
  }

  /** Takes in a node that is in no order, which weighs {@code units}. */
  void add(Node node, int units) {
    tidy();
    node.units(units);
    count++;
    sketch.ensureCapacity(count);
    sketch.increment(node.hash());
    window.addFirst(node);
    if (units > (policy == Policy.LRU ? maximumUnits / LARGE_DIVISOR : windowUnits)) {
      large = node;
    }
  }

  /** A node was used. Nothing if it has left meanwhile. */
  void touch(Node node) {
    tidy();
    sketch.increment(node.hash());
    NodeList list = listOf(node);
    if (list == null) {
      return;
    }
    list.remove(node);
    if (policy == Policy.LRU || list == window) {
      window.addFirst(node);
      return;
    }
    protectedNodes.addFirst(node);
    while (protectedNodes.units() > protectedUnits && protectedNodes.last() != null) {
      move(protectedNodes.last(), probation);
    }
  }

  /** A node that is in the order weighs something else now. */
  void weigh(Node node, int units) {
    NodeList list = listOf(node);
    if (list != null) {
      list.weigh(node, units);
    }
  }

  /** Takes out a node, if it is in the order. */
  void remove(Node node) {
    NodeList list = listOf(node);
    if (list != null) {
      list.remove(node);
      count--;
    }
    if (large == node) {
      large = null;
    }
    if (admitted == node) {
      admitted = null;
    }
  }

  /** Takes out the next node that has to leave because there are too many; null if none has to. */
  @Nullable Node takeSurplus() {
    if (units() <= maximumUnits) {
      large = null;
      admitted = null;
      spill();
      return null;
    }
    if (admitted == null) {
      Node candidate = candidate();
      if (candidate != null) {
        if (!isAdmitted(candidate)) {
          return take(candidate);
        }
        if (policy == Policy.TINYLFU) {
          move(candidate, probation);
        }
        admitted = candidate;
      }
    }
    return takeColdest();
  }

  /** Takes out the node that is least worth keeping; null if there is none. */
  @Nullable Node takeColdest() {
    Node node = coldest();
    if (node != null && node == admitted) {
      node = warmer(node);
    }
    return node == null ? null : take(node);
  }

  private Node take(Node node) {
    remove(node);
    return node;
  }

  /** What leaves the window finds room without competing. */
  private void spill() {
    if (policy == Policy.TINYLFU) {
      while (window.units() > windowUnits && window.last() != null) {
        move(window.last(), probation);
      }
    }
  }

  private @Nullable Node candidate() {
    Node candidate = large;
    large = null;
    if (candidate != null) {
      return candidate;
    }
    return policy == Policy.TINYLFU && window.units() > windowUnits ? window.last() : null;
  }

  /**
   * Whether something large that is not here yet may push out nodes of so many units. A refusal
   * counts as a use; what is admitted is expected to be added.
   */
  boolean admits(long hash, long surplusUnits) {
    int frequency = Math.min(FrequencySketch.MAXIMUM, sketch.frequency(hash) + 1);
    boolean isAdmitted = wins(null, frequency, surplusUnits);
    if (!isAdmitted) {
      sketch.increment(hash);
    }
    return isAdmitted;
  }

  private boolean isAdmitted(Node candidate) {
    return candidate.units() <= maximumUnits
        && wins(candidate, sketch.frequency(candidate.hash()), units() - maximumUnits);
  }

  private boolean wins(@Nullable Node candidate, int frequency, long surplusUnits) {
    return policy == Policy.LRU
        ? frequency >= OFTEN
        : frequency >= HOT
            || isAskedForMore(candidate, frequency, surplusUnits)
            || (frequency >= WARM && isLucky());
  }

  /** Whether it was asked for more often than everything that has to leave for it. */
  private boolean isAskedForMore(@Nullable Node candidate, int frequency, long surplusUnits) {
    long surplus = surplusUnits;
    int sum = 0;
    for (Node victim = coldest(); victim != null && surplus > 0; victim = warmer(victim)) {
      if (victim != candidate) {
        sum += sketch.frequency(victim.hash());
        if (sum >= frequency) {
          return false;
        }
        surplus -= victim.units();
      }
    }
    return true;
  }

  private boolean isLucky() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return (random & CHANCE_MASK) == 0;
  }

  private @Nullable Node coldest() {
    return lastOfOrWarmer(remnants);
  }

  /** The node that is next to leave after that one. */
  private @Nullable Node warmer(Node node) {
    NodeList list = listOf(node);
    return node.previous != null || list == null ? node.previous : lastOfWarmer(list);
  }

  private @Nullable Node lastOfOrWarmer(NodeList list) {
    return list.last() != null ? list.last() : lastOfWarmer(list);
  }

  private @Nullable Node lastOfWarmer(NodeList list) {
    if (list == remnants) {
      return lastOfOrWarmer(probation);
    }
    if (list == probation) {
      return lastOfOrWarmer(protectedNodes);
    }
    return list == protectedNodes ? window.last() : null;
  }

  private void move(Node node, NodeList to) {
    NodeList from = listOf(node);
    if (from != null) {
      from.remove(node);
    }
    to.addFirst(node);
  }

  private @Nullable NodeList listOf(Node node) {
    if (window.contains(node)) {
      return window;
    }
    if (probation.contains(node)) {
      return probation;
    }
    if (protectedNodes.contains(node)) {
      return protectedNodes;
    }
    return remnants.contains(node) ? remnants : null;
  }

  private void tidy() {
    for (int i = 0; i < REMNANTS_PER_CALL && remnants.first() != null; i++) {
      Node node = remnants.first();
      remnants.remove(node);
      probation.addLast(node);
    }
  }
}
