package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;
import java.util.function.ToDoubleFunction;

/** All rounds of a comparison of ways of pacing. */
final class PacingSamples {

  private final List<PacingSample> samples = new ArrayList<>();
  private final List<Capacity> capacities = new ArrayList<>();

  void add(PacingSample sample) {
    samples.add(sample);
  }

  void add(Capacity capacity) {
    capacities.add(capacity);
  }

  List<PacingSample> all() {
    return List.copyOf(samples);
  }

  List<Capacity> capacities() {
    return List.copyOf(capacities);
  }

  /** The rounds of one way under one rate, in order. */
  List<PacingSample> of(String way, int rate) {
    return samples.stream()
        .filter(sample -> sample.way().equals(way) && sample.rate() == rate)
        .toList();
  }

  /** The capacities of one way, in order. */
  List<Capacity> capacities(String way) {
    return capacities.stream().filter(capacity -> capacity.way().equals(way)).toList();
  }

  /**
   * A property as a multiple of another way's, round by round: what disturbs both in a round
   * cancels out. Empty if the two never met in a round.
   */
  Optional<Spread> ratio(
      String way, String other, int rate, ToDoubleFunction<PacingSample> property) {
    return compared(way, other, rate, property, (mine, theirs) -> mine / theirs);
  }

  /** A property less another way's, round by round. */
  Optional<Spread> difference(
      String way, String other, int rate, ToDoubleFunction<PacingSample> property) {
    return compared(way, other, rate, property, (mine, theirs) -> mine - theirs);
  }

  private Optional<Spread> compared(
      String way,
      String other,
      int rate,
      ToDoubleFunction<PacingSample> property,
      DoubleBinaryOperator comparison) {
    return spread(
        of(way, rate).stream()
            .flatMap(
                mine ->
                    of(other, rate).stream()
                        .filter(theirs -> theirs.round() == mine.round())
                        .map(
                            theirs ->
                                comparison.applyAsDouble(
                                    property.applyAsDouble(mine), property.applyAsDouble(theirs))))
            .toList());
  }

  /** Capacity as a multiple of another way's, round by round. */
  Optional<Spread> capacityRatio(String way, String other) {
    return spread(
        capacities(way).stream()
            .flatMap(
                mine ->
                    capacities(other).stream()
                        .filter(theirs -> theirs.round() == mine.round() && theirs.rate() > 0)
                        .map(theirs -> mine.rate() / theirs.rate()))
            .toList());
  }

  private static Optional<Spread> spread(List<Double> values) {
    double[] known =
        values.stream().mapToDouble(Double::doubleValue).filter(Double::isFinite).toArray();
    return known.length == 0 ? Optional.empty() : Optional.of(Spread.of(known));
  }
}
