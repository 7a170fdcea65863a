package io.kamille.perf.report;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Repeated measurements of one thing: the middle and how far they lie apart.
 *
 * @param median the middle one, or the mean of the two in the middle
 */
public record Spread(double least, double median, double greatest) {

  /**
   * The spread of these values.
   *
   * @throws IllegalArgumentException if there are none
   */
  public static Spread of(double... values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("values: none (expected: at least one)");
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(sorted[0], median, sorted[sorted.length - 1]);
  }

  /** The spread of one property. */
  public static <T> Spread of(Collection<T> measured, ToDoubleFunction<T> property) {
    return of(measured.stream().mapToDouble(property).toArray());
  }

  /** The middle with the extremes in parentheses. */
  public String text(int decimals) {
    String number = "%." + decimals + "f";
    return String.format(
        Locale.ROOT, number + " (" + number + "–" + number + ")", median, least, greatest);
  }
}
