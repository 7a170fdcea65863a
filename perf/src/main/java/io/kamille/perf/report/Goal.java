package io.kamille.perf.report;

import java.util.Optional;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a comparison is to show. The median decides.
 *
 * @param claim with the limit
 * @param measured takes from the samples what the claim is about; empty if it was not measured
 * @param missing says which cause of the effect was not there; empty if it was
 */
public record Goal(
    String claim,
    Function<Samples, Optional<Spread>> measured,
    DoublePredicate isMet,
    Function<Samples, Optional<String>> missing) {

  /** A goal that needs no cause. */
  public Goal(String claim, Function<Samples, Optional<Spread>> measured, DoublePredicate isMet) {
    this(claim, measured, isMet, _ -> Optional.empty());
  }

  /** The same, which is not tested unless its cause was there. */
  public Goal given(String cause, Predicate<Samples> isThere) {
    return new Goal(
        claim, measured, isMet, all -> isThere.test(all) ? Optional.empty() : Optional.of(cause));
  }

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
    Optional<String> cause = missing.apply(samples);
    if (cause.isPresent()) {
      return "untested " + claim + ": not so: " + cause.get();
    }
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
