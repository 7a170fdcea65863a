package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.ConnectionOrder;
import io.kamille.admin.tuning.ConnectionSnapshot;
import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.admin.tuning.TuningSnapshot;
import io.kamille.core.gate.Overload;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceJudgement;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.metric.Histogram;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Loops and their pace; connections to clients and their send buffers. */
public final class EngineResources {

  private static final String LOOPS = "/v1/engine/loops";
  private static final String TUNING = "/v1/tuning";
  private static final String EXPECTED_PACE =
      "The content must be an object with any of pacing and spin, both strings.";
  private static final String EXPECTED_TUNING =
      "The content must be an object with any of policy and budget, both strings.";
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final double MEDIAN = 0.5;
  private static final double PERCENTILE_99 = 0.99;
  private static final int CONNECTIONS = 100;
  private static final int MOST_CONNECTIONS = 10_000;

  private EngineResources() {}

  /** All of them. */
  public static List<Operation> of(LoopGroup loops, Overload overload, BufferTuner tuner) {
    return List.of(
        Operation.get(LOOPS, Scope.READ, "How each loop turns and paces itself.")
            .answers(Loops.class)
            .by(() -> loops(loops, overload)),
        Operation.put(LOOPS, Scope.OPERATE, "Changes the pace of the running process.")
            .answers(Loops.class)
            .by(
                (request, _) -> {
                  loops.pace(pace(Json.content(request, Pace.class, EXPECTED_PACE), loops.pace()));
                  return loops(loops, overload);
                }),
        Operation.get(TUNING, Scope.READ, "How send buffers are shared.")
            .answers(TuningSnapshot.class)
            .by(() -> tuning(tuner)),
        Operation.put(
                TUNING, Scope.OPERATE, "Changes how send buffers of the running process are tuned.")
            .answers(TuningSnapshot.class)
            .by(
                (request, _) -> {
                  tuner.settings(
                      tuned(
                          Json.content(request, Tuning.class, EXPECTED_TUNING), tuner.settings()));
                  return tuning(tuner);
                }),
        Operation.get(
                "/v1/connections",
                Scope.READ,
                "Connections that write, what their paths carry, what waits where, and why each"
                    + " has its send buffer.")
            .may("sort", "buffer, rate or pending, the greatest first; buffer if it is not there")
            .may("limit", "how many at the most; 100 if it is not there")
            .answers(Connections.class)
            .by((_, query) -> connections(tuner, query)));
  }

  // Loops

  private static Answer loops(LoopGroup loops, Overload overload) {
    return loops(loops.pace(), loops.turns(), overload.shares());
  }

  static Answer loops(PaceSettings pace, List<LoopTurns> turns, List<Double> shedShares) {
    return Answer.json(
        new Loops(
            PaceSettings.PACING.type().print(pace.pacing()),
            PaceSettings.SPIN.type().print(pace.spin()),
            loops(turns, shedShares)));
  }

  private static List<Loop> loops(List<LoopTurns> turns, List<Double> shedShares) {
    List<Loop> loops = new ArrayList<>();
    for (int i = 0; i < turns.size(); i++) {
      loops.add(Loop.of(turns.get(i), i < shedShares.size() ? shedShares.get(i) : 0));
    }
    return loops;
  }

  private record Loops(String pacing, String spin, List<Loop> loops) {}

  private record Loop(
      String name,
      double intervalMicros,
      String reason,
      double pollsPerSecond,
      double eventsPerPoll,
      double utilisation,
      @Nullable Judgement judgement,
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
      double intervalMicros,
      double saving,
      double uncertainty,
      double waitMicros,
      long ageSeconds) {

    static @Nullable Judgement of(@Nullable PaceJudgement found) {
      return found == null
          ? null
          : new Judgement(
              found.allowsPauses(),
              found.intervalNanos() / NANOS_PER_MICRO,
              found.saving(),
              found.uncertainty(),
              found.waitNanos() / NANOS_PER_MICRO,
              TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - found.nanos()));
    }
  }

  private record Turns(
      long count, double seconds, double p50Micros, double p99Micros, List<Bucket> buckets) {

    static Turns of(Histogram.Snapshot turns) {
      return new Turns(
          turns.count(),
          turns.sumNanos() / NANOS_PER_SECOND,
          turns.quantileNanos(MEDIAN) / NANOS_PER_MICRO,
          turns.quantileNanos(PERCENTILE_99) / NANOS_PER_MICRO,
          buckets(turns));
    }

    /** Those that hold something; the last one of all has no bound and is left to the count. */
    private static List<Bucket> buckets(Histogram.Snapshot turns) {
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

  private record Pace(@Nullable String pacing, @Nullable String spin) {}

  /** What is asked for, and else what holds. */
  private static PaceSettings pace(Pace asked, PaceSettings present) throws InvalidRequest {
    PaceSettings next = present;
    if (asked.pacing != null) {
      next = next.with(Json.value("pacing", asked.pacing, PaceSettings.PACING.type()));
    }
    if (asked.spin != null) {
      next = next.withSpin(Json.value("spin", asked.spin, PaceSettings.SPIN.type()));
    }
    return next;
  }

  // Send buffers

  private static Answer tuning(BufferTuner tuner) {
    return Answer.json(tuner.snapshot());
  }

  private record Tuning(@Nullable String policy, @Nullable String budget) {}

  /** What is asked for, and else what holds. */
  private static TuningSettings tuned(Tuning asked, TuningSettings present) throws InvalidRequest {
    var problems = new ArrayList<String>();
    TuningPolicy policy =
        read("policy", asked.policy, TuningPolicy.type(), present.policy(), problems);
    long budget =
        read("budget", asked.budget, TuningSettings.BUDGET.type(), present.budgetBytes(), problems);
    if (!problems.isEmpty()) {
      throw new InvalidRequest(String.join(" ", problems));
    }
    return present.with(policy).withBudget(budget);
  }

  /** The value of a member, or else what holds, perhaps with a problem more. */
  private static <T> T read(
      String name, @Nullable String text, ValueType<T> type, T present, List<String> problems) {
    if (text == null) {
      return present;
    }
    T value = type.parse(text);
    if (value != null) {
      return value;
    }
    problems.add(name + ": " + Problems.quote(text) + " (expected: " + type.expected() + ").");
    return present;
  }

  // Connections

  private static Answer connections(BufferTuner tuner, Query query) throws InvalidRequest {
    String sort = query.optional("sort");
    ConnectionOrder order =
        sort == null
            ? ConnectionOrder.BUFFER
            : Json.value("sort", sort, ValueTypes.oneOf(ConnectionOrder.values()));
    int limit = query.number("limit", CONNECTIONS, MOST_CONNECTIONS);
    return Answer.json(new Connections(tuner.settings().policy(), tuner.connections(order, limit)));
  }

  private record Connections(TuningPolicy policy, List<ConnectionSnapshot> connections) {}
}
