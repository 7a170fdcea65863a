package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceJudgement;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import io.kamille.core.metric.HistogramSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/engine/loops}: how each loop turns, and how it paces itself. */
final class EngineLoops implements Resource {

  static final String PATH = "/v1/engine/loops";

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final double MEDIAN = 0.5;
  private static final double PERCENTILE_99 = 0.99;

  private final ApplianceView appliance;

  EngineLoops(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.get(PATH, Scope.READ, "How each loop turns and paces itself.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    return present(appliance);
  }

  /** How the loops turn at this moment. */
  static Answer present(ApplianceView appliance) {
    PaceSettings pace = appliance.pace();
    Duration spin = Duration.ofNanos(pace.spinLimitNanos());
    return Answer.json(
        new Document(
            Pacing.type().print(pace.pacing()),
            Pacing.latencyBudgetType().print(Duration.ofNanos(pace.latencyBudgetNanos())),
            Pacing.leastSavingType().print(pace.leastSaving()),
            Pacing.spinLimitType().print(Optional.of(spin).filter(Duration::isPositive)),
            loops(appliance.turns(), appliance.shedShares())));
  }

  private static List<Loop> loops(List<LoopTurns> turns, List<Double> shedShares) {
    List<Loop> loops = new ArrayList<>();
    for (int i = 0; i < turns.size(); i++) {
      loops.add(Loop.of(turns.get(i), i < shedShares.size() ? shedShares.get(i) : 0));
    }
    return loops;
  }

  record Document(
      String pacing, String latencyBudget, String leastSaving, String spin, List<Loop> loops) {}

  private record Loop(
      String name,
      double intervalMicros,
      String reason,
      double pollsPerSecond,
      double eventsPerPoll,
      double utilisation,
      @Nullable Judgement judgement,
      double pollCostMicros,
      long polls,
      long events,
      long pauses,
      double pauseSeconds,
      double spinBudgetMicros,
      long spins,
      long paidSpins,
      double spinSeconds,
      long stalls,
      double shedShare,
      Turns turns) {

    static Loop of(LoopTurns loop, double shedShare) {
      return new Loop(
          loop.name(),
          loop.intervalNanos() / NANOS_PER_MICRO,
          loop.reason().name().toLowerCase(Locale.ROOT).replace('_', '-'),
          loop.pollsPerSecond(),
          loop.eventsPerPoll(),
          loop.utilisation(),
          Judgement.of(loop.judgement()),
          loop.pollCostNanos() / NANOS_PER_MICRO,
          loop.polls(),
          loop.events(),
          loop.pauses(),
          loop.pauseNanos() / NANOS_PER_SECOND,
          loop.spinBudgetNanos() / NANOS_PER_MICRO,
          loop.spins(),
          loop.paidSpins(),
          loop.spinNanos() / NANOS_PER_SECOND,
          loop.stalls(),
          shedShare,
          Turns.of(loop.turns()));
    }
  }

  /** What pauses save and cost, as the last trial found it. */
  private record Judgement(
      boolean allowsPauses,
      double saving,
      double uncertainty,
      double waitMicros,
      int pairs,
      long ageSeconds) {

    static @Nullable Judgement of(@Nullable PaceJudgement found) {
      return found == null
          ? null
          : new Judgement(
              found.allowsPauses(),
              found.saving(),
              found.uncertainty(),
              found.waitNanos() / NANOS_PER_MICRO,
              found.pairs(),
              TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - found.nanos()));
    }
  }

  private record Turns(
      long count, double seconds, double p50Micros, double p99Micros, List<Bucket> buckets) {

    static Turns of(HistogramSnapshot turns) {
      return new Turns(
          turns.count(),
          turns.sumNanos() / NANOS_PER_SECOND,
          turns.quantileNanos(MEDIAN) / NANOS_PER_MICRO,
          turns.quantileNanos(PERCENTILE_99) / NANOS_PER_MICRO,
          buckets(turns));
    }

    /** Those that hold something; the last one of all has no bound and is left to the count. */
    private static List<Bucket> buckets(HistogramSnapshot turns) {
      List<Bucket> buckets = new ArrayList<>();
      for (int i = 0; i < turns.buckets() - 1; i++) {
        if (turns.count(i) > 0) {
          buckets.add(new Bucket(turns.upperBoundNanos(i) / NANOS_PER_MICRO, turns.count(i)));
        }
      }
      return buckets;
    }
  }

  private record Bucket(double upToMicros, long count) {}
}
