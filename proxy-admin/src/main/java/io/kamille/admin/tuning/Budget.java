package io.kamille.admin.tuning;

/** The budget in force: as configured, or less while memory is short. Confined to the tuner. */
final class Budget {

  /*
   * It halves with each period in which memory is four fifths used, to a sixteenth at the least,
   * and comes back by a tenth of the whole with each period in which it is not.
   */
  private static final double SHORT = 0.8;
  private static final double LEAST = 1.0 / 16;
  private static final double STEP = 0.1;

  private double part = 1;
  private double pressure;

  /** A period has passed. */
  void adapt(double pressure) {
    this.pressure = pressure;
    part = isShort() ? Math.max(LEAST, part / 2) : Math.min(1, part + STEP);
  }

  /** What may be given out of what is configured. */
  long bytes(long configuredBytes) {
    return (long) (configuredBytes * part);
  }

  /** Whether memory is short now. */
  boolean isShort() {
    return pressure > SHORT;
  }

  double pressure() {
    return pressure;
  }
}
