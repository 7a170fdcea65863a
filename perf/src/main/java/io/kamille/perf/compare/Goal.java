package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoublePredicate;

/** How little Kamille is to take. The median decides. */
sealed interface Goal {

  /** What is claimed, with the limit. */
  String claim();

  /** The greatest value that meets the goal. */
  double limit();

  /** What was measured; empty if it was not. */
  Optional<Spread> measured(Samples samples);

  /** One line about what came of it. */
  default String verdict(Samples samples) {
    return verdict(claim(), measured(samples), median -> median <= limit());
  }

  /** One line about what came of a claim. */
  static String verdict(String claim, Optional<Spread> measured, DoublePredicate isMet) {
    return measured
        .map(
            value ->
                (isMet.test(value.median()) ? "met     " : "missed  ")
                    + claim
                    + ": "
                    + value.text(2))
        .orElse("unknown " + claim + ": not measured");
  }

  /** CPU time per request as a multiple of another server's. */
  record CpuRatio(Subject subject, String other, double limit) implements Goal {

    @Override
    public String claim() {
      return String.format(Locale.ROOT, "%s at most %.2f × %s", subject.label(), limit, other);
    }

    @Override
    public Optional<Spread> measured(Samples samples) {
      return samples.ratio("kamille", other, subject);
    }
  }

  /** Octets allocated on the heap for a request. */
  record Garbage(Subject subject, double limit) implements Goal {

    @Override
    public String claim() {
      return String.format(Locale.ROOT, "%s at most %.0f bytes of garbage", subject.label(), limit);
    }

    @Override
    public Optional<Spread> measured(Samples samples) {
      List<Sample> rounds = samples.of("kamille", subject);
      return rounds.isEmpty()
          ? Optional.empty()
          : Optional.of(Spread.of(rounds, Sample::garbageBytesPerRequest));
    }
  }
}
