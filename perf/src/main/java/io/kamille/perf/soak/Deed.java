package io.kamille.perf.soak;

import java.util.SplittableRandom;

/** What a client does, and how often. */
enum Deed {
  GET(40),
  GET_CODED(8),
  GET_SHAKY(8),
  GET_LARGE(3),
  RANGE(6),
  HEAD(4),
  CONDITIONAL(8),
  OLD_VERSION(3),
  PIPELINE(4),
  POST(4),
  POST_SHAKY(2),
  POST_SLOW(1),
  PURGE(3),
  CROWD(1),
  READ_SLOWLY(2),
  LEAVE_BEFORE_HEAD(1),
  LEAVE_IN_HEAD(1),
  LEAVE_IN_REQUEST_CONTENT(2),
  LEAVE_BEFORE_ANSWER(3),
  LEAVE_IN_CONTENT(4),
  BROKEN(3);

  private static final int ALL = sum();

  private final int weight;

  Deed(int weight) {
    this.weight = weight;
  }

  static Deed any(SplittableRandom random) {
    int left = random.nextInt(ALL);
    for (Deed deed : values()) {
      left -= deed.weight;
      if (left < 0) {
        return deed;
      }
    }
    throw new IllegalStateException("weights");
  }

  private static int sum() {
    int sum = 0;
    for (Deed deed : values()) {
      sum += deed.weight;
    }
    return sum;
  }
}
