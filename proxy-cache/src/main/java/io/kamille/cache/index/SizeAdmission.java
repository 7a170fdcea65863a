package io.kamille.cache.index;

/** Whether an object that is not in a full cache is worth the room it takes. Any thread. */
final class SizeAdmission {

  /*
   * A hit spares one wait for the origin, however large the object is. So room should go to what is
   * asked for most per octet. Caffeine compares one newcomer with one victim, whatever they weigh;
   * this comes before it. Under W-TinyLFU an object is admitted if it was asked for often enough
   * for its size. The yardstick is the mean size of all that is asked for and not found. An object
   * up to this size, and a quarter more, is admitted at once, one twice as large at its sixth
   * request, any at its tenth. LRU suits traffic that wants what is new, so only objects of more
   * than a 64th of the cache have to be asked for again: four times. A cache is full for an object
   * that does not fit beside the others: the room that a large one leaves is not for the next large
   * one.
   *
   * The mean is of the last 4,096 misses or so, among which none counts for more than four times
   * the mean. Frequency is that of misses: what is found needs no admission. Several threads count
   * at once without a lock, and lose a count now and then.
   */
  private static final int LARGE_DIVISOR = 64;
  private static final int LARGE_FREQUENCY = 4;
  private static final int HOT_FREQUENCY = 10;
  private static final double FREQUENCY_PER_MEAN_SIZE = 3;
  private static final double ADMITTED_AT_ONCE = 1.25;
  private static final int COUNTED_MEANS = 4;
  private static final int MEAN_OF = 4096;
  private static final int FULL_PARTS = 16;

  private final long maximumUnits;
  private final FrequencySketch sketch;
  private volatile double meanUnits;
  private volatile int misses;

  /**
   * Admission to a cache of that size.
   *
   * @param counters how many objects the sketch should tell apart
   */
  SizeAdmission(long maximumUnits, long counters) {
    this.maximumUnits = maximumUnits;
    this.sketch = new FrequencySketch(counters);
  }

  /**
   * Whether to admit an object that was asked for and not found; counts that.
   *
   * @param used what all objects in the cache weigh
   */
  boolean admits(Policy policy, long hash, long units, long used) {
    sketch.increment(hash);
    count(units);
    return wouldAdmit(policy, hash, units, used);
  }

  private void count(long units) {
    int of = Math.min(misses + 1, MEAN_OF);
    double mean = meanUnits;
    double counted = of == 1 ? (double) units : Math.min((double) units, COUNTED_MEANS * mean);
    misses = of;
    meanUnits = mean + (counted - mean) / of;
  }

  /** The same, of an object that was counted already. */
  boolean wouldAdmit(Policy policy, long hash, long units, long used) {
    if (units > maximumUnits) {
      return false;
    }
    if (!isFull(units, used)) {
      return true;
    }
    int frequency = sketch.frequency(hash);
    return policy == Policy.LRU
        ? units <= maximumUnits / LARGE_DIVISOR || frequency >= LARGE_FREQUENCY
        : units <= ADMITTED_AT_ONCE * meanUnits
            || frequency >= HOT_FREQUENCY
            || frequency * meanUnits >= FREQUENCY_PER_MEAN_SIZE * units;
  }

  /** Whether what comes in pushes something out, at once or soon. */
  private boolean isFull(long units, long used) {
    return used + units > maximumUnits || used >= maximumUnits / FULL_PARTS * (FULL_PARTS - 1);
  }
}
