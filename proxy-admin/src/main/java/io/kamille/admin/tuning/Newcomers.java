package io.kamille.admin.tuning;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Parts of connections that no look has shown yet. Any thread. */
final class Newcomers {

  /*
   * Loops give them out without asking anybody, so they take from what the last pass left for that:
   * then the sum of all sizes stays within the budget. Nobody gets less than the least size, and
   * nobody is taken for slow because its neighbours are.
   */
  private static final int UNKNOWN_BYTES = 64 << 10;

  private final AtomicLong room;
  private final AtomicLong unseen = new AtomicLong();
  private final AtomicInteger sharers = new AtomicInteger();

  /** Before the first pass, all of the budget is theirs. */
  Newcomers(long budgetBytes) {
    room = new AtomicLong(budgetBytes);
  }

  /**
   * Sets a part aside: as much as its group needs or more, but no more than an equal part, or is
   * left.
   */
  long draw(GroupPrior group, long budgetBytes) {
    long wanted = Math.max(UNKNOWN_BYTES, (long) group.demandBytes());
    long equal = Math.min(wanted, budgetBytes / sharers.incrementAndGet());
    long before = room.getAndUpdate(left -> Math.max(0, left - equal));
    long part = Math.max(SendBufferLaw.LEAST_SIZE_BYTES, Math.min(equal, before));
    unseen.addAndGet(part);
    return part;
  }

  /** So much of it is seen, or over. */
  void seen(long partBytes) {
    unseen.addAndGet(-partBytes);
  }

  /** What is set aside now. */
  long unseenBytes() {
    return unseen.get();
  }

  /** Others share the budget, and leave so much of it. */
  void leave(int sharers, long roomBytes) {
    this.sharers.set(sharers);
    room.set(Math.max(0, roomBytes));
  }
}
