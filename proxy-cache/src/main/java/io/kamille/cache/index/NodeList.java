package io.kamille.cache.index;

import org.jspecify.annotations.Nullable;

/** Nodes in an order, with their weight. Confined to whoever holds the lock of the order. */
final class NodeList {

  private final int number;
  private @Nullable Node first;
  private @Nullable Node last;
  private long units;

  /**
   * A list of nothing.
   *
   * @param number what tells it from the other lists of an order: 1 to 7
   */
  NodeList(int number) {
    this.number = number;
  }

  /** Whether that node is in this list. */
  boolean contains(Node node) {
    return node.list() == number;
  }

  @Nullable Node first() {
    return first;
  }

  @Nullable Node last() {
    return last;
  }

  /** What the nodes weigh together. */
  long units() {
    return units;
  }

  /** Puts a node that is in no list before all others. */
  void addFirst(Node node) {
    node.list(number);
    node.previous = null;
    node.next = first;
    if (first == null) {
      last = node;
    } else {
      first.previous = node;
    }
    first = node;
    units += node.units();
  }

  /** Puts a node that is in no list behind all others. */
  void addLast(Node node) {
    node.list(number);
    node.next = null;
    node.previous = last;
    if (last == null) {
      first = node;
    } else {
      last.next = node;
    }
    last = node;
    units += node.units();
  }

  /** Takes out a node that is in this list. */
  void remove(Node node) {
    Node before = node.previous;
    Node after = node.next;
    if (before == null) {
      first = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.previous = before;
    }
    node.previous = null;
    node.next = null;
    node.list(Node.NOWHERE);
    units -= node.units();
  }

  /** Gives a node of this list another weight. */
  void weigh(Node node, int newUnits) {
    units -= node.units();
    node.units(newUnits);
    units += node.units();
  }
}
