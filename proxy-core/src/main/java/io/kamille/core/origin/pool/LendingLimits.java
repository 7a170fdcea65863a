package io.kamille.core.origin.pool;

/** How many requests may be under way on the connections of a pool. Confined to its loop. */
final class LendingLimits {

  private int most;
  private int lent;
  private int dialing;
  private int uploading;

  /** At most so many at a time. */
  LendingLimits(int most) {
    this.most = most;
  }

  /** At most so many from now on. Returns whether that is more. */
  boolean change(int count) {
    boolean isMore = count > most;
    most = count;
    return isMore;
  }

  int lent() {
    return lent;
  }

  /** So many were lent, or came back. */
  void lent(int change) {
    lent += change;
  }

  /** Connections that are being opened. */
  int dialing() {
    return dialing;
  }

  void dialing(int change) {
    dialing += change;
  }

  /** Whether one more may be lent or opened now. */
  boolean mayLend() {
    return lent + dialing < most;
  }

  void uploading(int change) {
    uploading += change;
  }

  /** Uploads that may begin; below 0 after the limit has fallen. */
  int uploadsLeft() {
    return uploadPart(most) - uploading;
  }

  /** How many of so many uploads may have: three quarters, and one that is alone. */
  static int uploadPart(int count) {
    return count < 2 ? count : count - Math.ceilDiv(count, 4);
  }
}
