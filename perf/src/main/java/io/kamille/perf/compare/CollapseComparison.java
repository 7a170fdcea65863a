package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Crowd;
import io.kamille.perf.load.Crowd.Outcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.peer.Peer.Job;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Many misses on one key at once: how often the origin is asked, and when who gets an octet. */
public final class CollapseComparison {

  /*
   * All servers run at once on one core and are asked in turn; the crowd, which is this process, and
   * the origin share the other. Every round is about an object that no server has seen, and every
   * octet is compared. Servers in Java get rounds beforehand that do not count.
   */

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int WARMUP_ROUNDS = 10;

  private final ComparisonOptions options;
  private long object;

  private CollapseComparison(ComparisonOptions options) {
    this.options = options;
  }

  /**
   * A comparison with as many clients as there may be connections here.
   *
   * @throws IOException if the limit of descriptors cannot be read
   */
  public static CollapseComparison of(ComparisonOptions options) throws IOException {
    return new CollapseComparison(
        options.withConnections(DescriptorLimit.connections(options.connections())));
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      var fingerprint = HostFingerprint.take(checkout);
      bench.moveTo(Core.OTHERS);
      var origin = Origin.start(bench);
      var lineup = Lineup.start(bench, checkout, Job.COLLAPSE, origin, options, List.of());
      var report = new CollapseReport(fingerprint, lineup, options);
      report.printBeginning();
      lineup.forEach(contestant -> warm(contestant, origin));
      for (CollapseSituation situation : CollapseSituation.ALL) {
        for (int round = 1; round <= options.rounds(); round++) {
          int current = round;
          lineup.forEach(contestant -> report.add(measure(contestant, origin, situation, current)));
        }
        report.print(situation);
      }
      report.printGoals();
      RawData.keep(checkout, options.record(), report.csv());
    }
  }

  private void warm(Contestant contestant, Origin origin) throws IOException {
    int rounds = contestant.peer().isJava() ? Math.min(WARMUP_ROUNDS, 2 * options.rounds()) : 1;
    for (int i = 0; i < rounds; i++) {
      for (CollapseSituation situation : CollapseSituation.WARMING) {
        measure(contestant, origin, situation, 0);
      }
    }
  }

  private CollapseSample measure(
      Contestant contestant, Origin origin, CollapseSituation situation, int round)
      throws IOException {
    OriginTarget target = situation.target(++object);
    long forwardedBefore = origin.requests();
    List<Outcome> crowd;
    CpuTime cpu;
    try (var visitors = Crowd.open(contestant.port(), options.connections())) {
      CpuTime before = contestant.process().cpuTime();
      crowd =
          visitors.ask(
              () -> LoadRequest.get("127.0.0.1", target),
              situation.plans(options.connections()),
              LIMIT);
      cpu = contestant.process().cpuTime().minus(before);
    }
    long forwarded = origin.requests() - forwardedBefore;
    return CollapseSample.of(
        contestant.name(),
        situation,
        round,
        crowd,
        forwarded,
        cpu.userMicros() + cpu.kernelMicros());
  }
}
