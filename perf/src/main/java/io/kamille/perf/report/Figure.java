package io.kamille.perf.report;

import java.util.function.ToDoubleFunction;

/**
 * A number of a sample, measured or computed from others.
 *
 * @param name of its column in the raw data, with the unit
 * @param read takes it from a sample; NaN if it is not known
 */
public record Figure(String name, ToDoubleFunction<Sample> read) {

  /** A figure that is measured and kept. */
  public static Figure of(String name) {
    return new Figure(name, sample -> sample.number(name));
  }

  /** This many for each of another. */
  public Figure per(Figure other) {
    return new Figure(
        name + "/" + other.name, sample -> sample.of(this) / Math.max(1, sample.of(other)));
  }

  /** This and another. */
  public Figure plus(Figure other) {
    return new Figure(name + "+" + other.name, sample -> sample.of(this) + sample.of(other));
  }

  /** In another unit. */
  public Figure times(double factor) {
    return new Figure(name, sample -> sample.of(this) * factor);
  }
}
