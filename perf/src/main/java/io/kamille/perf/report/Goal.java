package io.kamille.perf.report;

import java.util.Optional;
import java.util.function.DoublePredicate;
import java.util.function.Function;

/**
 * What a comparison is to show. The median decides.
 *
 * @param claim with the limit
 * @param measured takes from the samples what the claim is about; empty if it was not measured
 */
public record Goal(
    String claim, Function<Samples, Optional<Spread>> measured, DoublePredicate isMet) {

  /** A figure that may not be greater. */
  public static Goal atMost(
      double limit, String claim, Function<Samples, Optional<Spread>> measured) {
    return new Goal(claim, measured, median -> median <= limit);
  }

  /** A figure that may not be less. */
  public static Goal atLeast(
      double limit, String claim, Function<Samples, Optional<Spread>> measured) {
    return new Goal(claim, measured, median -> median >= limit);
  }

  /** One line about what came of it. */
  public String verdict(Samples samples) {
    return measured
        .apply(samples)
        .map(
            value ->
                (isMet.test(value.median()) ? "met     " : "missed  ")
                    + claim
                    + ": "
                    + value.text(2))
        .orElse("unknown " + claim + ": not measured");
  }
}
