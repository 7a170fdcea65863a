package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** All rounds of a comparison. */
final class Samples {

  private final List<Sample> all = new ArrayList<>();

  void add(Sample sample) {
    all.add(sample);
  }

  List<Sample> all() {
    return List.copyOf(all);
  }

  /** The rounds of one server, in order. */
  List<Sample> of(String server, Subject subject) {
    return all.stream()
        .filter(sample -> sample.server().equals(server) && sample.subject().equals(subject))
        .toList();
  }

  /**
   * CPU time per request as a multiple of another server's, round by round: what disturbs both in a
   * round cancels out. Empty if the two never met in a round.
   */
  Optional<Spread> ratio(String server, String other, Subject subject) {
    double[] ratios =
        of(server, subject).stream()
            .flatMapToDouble(
                mine ->
                    of(other, subject).stream()
                        .filter(theirs -> theirs.round() == mine.round())
                        .mapToDouble(
                            theirs -> mine.cpuMicrosPerRequest() / theirs.cpuMicrosPerRequest()))
            .toArray();
    return ratios.length == 0 ? Optional.empty() : Optional.of(Spread.of(ratios));
  }
}
