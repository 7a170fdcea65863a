package io.kamille.perf.compare;

import io.kamille.perf.compare.Goal.CpuRatio;
import io.kamille.perf.compare.Goal.Garbage;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Wrk;
import java.io.IOException;
import java.util.List;

/** CPU time per request of Kamille and other servers that do the same job. */
public final class RequestComparison {

  /*
   * All servers run at once on one core, and one at a time is under load from the other core, where
   * the origin runs too. The rounds go A B C, A B C, so that whatever drifts (clock rate, caches,
   * neighbours) meets all alike, and ratios are taken within a round.
   *
   * CPU time per request is what counts: it moves by a few per cent where throughput in a closed
   * loop moves by half. Throughput and latency are those of a saturated server.
   */

  private static final List<Goal> HIT_GOALS =
      List.of(
          new CpuRatio(Subject.HITS.getFirst(), "haproxy", 0.9),
          new CpuRatio(Subject.HITS.getFirst(), "nginx", 0.55),
          new CpuRatio(Subject.HITS.getFirst(), "floor", 1.25),
          new CpuRatio(Subject.HITS.getLast(), "nginx", 1.1),
          new Garbage(Subject.HITS.getFirst(), 200));

  private static final List<Goal> PASS_GOALS =
      List.of(
          new CpuRatio(Subject.PASSES.getFirst(), "haproxy", 1.3),
          new CpuRatio(Subject.PASSES.getFirst(), "nginx", 0.6));

  private static final List<Goal> DISK_GOALS =
      List.of(new CpuRatio(Subject.DISK.getFirst(), "nginx", 1.1));

  private static final List<Goal> CODED_GOALS =
      List.of(
          new CpuRatio(Subject.CODED.getLast(), "nginx", 0.55),
          new Garbage(Subject.CODED.getLast(), 200));

  private final List<Subject> subjects;
  private final List<Goal> goals;
  private final ComparisonOptions options;
  private final Samples samples = new Samples();

  private RequestComparison(List<Subject> subjects, List<Goal> goals, ComparisonOptions options) {
    this.subjects = subjects;
    this.goals = goals;
    this.options = options;
  }

  /** Compares answers from the store. */
  public static RequestComparison ofHits(ComparisonOptions options) {
    return new RequestComparison(Subject.HITS, HIT_GOALS, options);
  }

  /** Compares answers from the store that are compressed for clients that take it. */
  public static RequestComparison ofCoded(ComparisonOptions options) {
    return new RequestComparison(Subject.CODED, CODED_GOALS, options);
  }

  /** Compares answers from files on a disk, which the kernel has in its memory. */
  public static RequestComparison ofDisk(ComparisonOptions options) {
    return new RequestComparison(Subject.DISK, DISK_GOALS, options);
  }

  /** Compares answers that come from the origin each time. */
  public static RequestComparison ofPasses(ComparisonOptions options) {
    return new RequestComparison(Subject.PASSES, PASS_GOALS, options);
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    try (var bench = Workbench.open()) {
      var wrk = Wrk.open(bench, options.connections());
      CongestionControl.useCubic(bench);
      var fingerprint = HostFingerprint.take(checkout);
      var origin = Origin.start(bench);
      var job = subjects.getFirst().job();
      var lineup = Lineup.start(bench, checkout, job, origin, options, List.of());
      var report = new ComparisonReport(fingerprint, lineup, options, samples);
      report.printBeginning();
      var measurement = new Measurement(bench, wrk, origin, options);
      for (Subject subject : subjects) {
        lineup.forEach(contestant -> warm(contestant, wrk, subject));
        for (int round = 1; round <= options.rounds(); round++) {
          int current = round;
          lineup.forEach(contestant -> samples.add(measurement.of(contestant, subject, current)));
        }
        report.print(subject);
      }
      report.print(goals);
      RawData.keep(checkout, options.record(), RawData.csv(report.facts(), samples.all()));
    }
  }

  private void warm(Contestant contestant, Wrk wrk, Subject subject)
      throws IOException, InterruptedException {
    contestant.prove(subject);
    int limit = options.rounds() * options.seconds();
    int seconds = Math.min(contestant.peer().warmupSeconds(), limit);
    wrk.run(contestant.port(), subject.path(), subject.coding(), seconds);
  }
}
