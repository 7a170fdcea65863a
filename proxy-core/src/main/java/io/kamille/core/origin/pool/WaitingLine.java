package io.kamille.core.origin.pool;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a connection of a pool, in the order they came; an upload that has no place lets
 * others pass. Confined to its loop.
 */
final class WaitingLine<C extends PooledConnection<C>> {

  private record Waiting<C extends PooledConnection<C>>(Waiter<C> waiter, long sinceNanos) {}

  private final ArrayDeque<Waiting<C>> uploads = new ArrayDeque<>();
  private final ArrayDeque<Waiting<C>> others = new ArrayDeque<>();

  int size() {
    return uploads.size() + others.size();
  }

  /** Those who could take a place, if so many uploads may begin. */
  int ready(int uploadsLeft) {
    return size() - Math.max(0, uploads() - Math.max(0, uploadsLeft));
  }

  /**
   * Whether one more may wait.
   *
   * @param most that may wait for nothing in particular
   * @param coming places on connections that are being opened
   */
  boolean hasRoom(Waiter<C> waiter, int most, int coming, int uploadsLeft) {
    return size() - coming < most
        && (!waiter.isUpload() || uploads() - uploadsLeft < uploadPart(most));
  }

  /** How many of so many uploads may have: three quarters, and one that is alone. */
  static int uploadPart(int count) {
    return count < 2 ? count : count - Math.ceilDiv(count, 4);
  }

  /** Uploads that wait. */
  int uploads() {
    return uploads.size();
  }

  void add(Waiter<C> waiter, long nowNanos) {
    (waiter.isUpload() ? uploads : others).add(new Waiting<>(waiter, nowNanos));
  }

  void remove(Waiter<C> waiter) {
    (waiter.isUpload() ? uploads : others).removeIf(waiting -> waiting.waiter().equals(waiter));
  }

  /**
   * Takes the first out of the line.
   *
   * @param mayUpload whether that may be an upload
   */
  @Nullable Waiter<C> poll(boolean mayUpload) {
    Waiting<C> first = mayUpload ? longest().poll() : others.poll();
    return first == null ? null : first.waiter();
  }

  /** Takes out of the line who has waited longest, if that is so long. */
  @Nullable Waiter<C> pollLate(long nowNanos, long timeoutNanos) {
    ArrayDeque<Waiting<C>> line = longest();
    Waiting<C> first = line.peek();
    if (first == null || nowNanos - first.sinceNanos() < timeoutNanos) {
      return null;
    }
    line.remove();
    return first.waiter();
  }

  /** The line whose first has waited longest. */
  private ArrayDeque<Waiting<C>> longest() {
    Waiting<C> upload = uploads.peek();
    Waiting<C> other = others.peek();
    boolean isUpload =
        upload != null && (other == null || upload.sinceNanos() - other.sinceNanos() < 0);
    return isUpload ? uploads : others;
  }
}
