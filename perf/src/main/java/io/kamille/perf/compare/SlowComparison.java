package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.SocketMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OpenLoopClient;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.SlowClients;
import io.kamille.perf.peer.Peer.Job;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Clients that behave well, alone and beside hundreds that are as slow as they can be. */
public final class SlowComparison {

  /*
   * All servers run at once on one core and are asked in turn; the origin, the load and the slow ones
   * share the other. The load and the slow ones are one thread: a slow client has its turn when the
   * load has nothing to do.
   */

  private static final Subject SMALL = Subject.HITS.getFirst();
  private static final Subject LARGE = Subject.HITS.getLast();
  private static final int RATE = 5000;
  private static final int EACH = 500;
  private static final int QUICK_EACH = 100;
  private static final int SETTLING_SECONDS = 3;

  private final ComparisonOptions options;
  private final int each;
  private final SlowReport report = new SlowReport();

  private SlowComparison(ComparisonOptions options) throws IOException {
    this.options = options;
    int wanted = options.seconds() == 1 ? QUICK_EACH : EACH;
    int slow = SlowSituation.ALL.kinds().size();
    this.each = DescriptorLimit.connections(slow * wanted) / slow;
  }

  /**
   * A comparison with as many slow clients as there may be connections here.
   *
   * @throws IOException if the limit of descriptors cannot be read
   */
  public static SlowComparison of(ComparisonOptions options) throws IOException {
    return new SlowComparison(options);
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
      Map<String, String> facts = facts(checkout);
      facts.forEach((name, value) -> System.out.println(name + ": " + value));
      bench.moveTo(Core.OTHERS);
      var origin = Origin.start(bench);
      int connections = options.connections() + each * SlowSituation.ALL.kinds().size();
      var lineup =
          Lineup.start(
              bench, checkout, Job.HIT, origin, options.withConnections(connections), List.of());
      lineup.forEach(
          contestant -> {
            facts.put(contestant.name(), contestant.peer().version());
            contestant.prove(SMALL);
            contestant.prove(LARGE);
            load(contestant, contestant.peer().warmupSeconds(), 0, LoadSettings::offerCore);
          });
      for (int round = 1; round <= options.rounds(); round++) {
        for (SlowSituation situation : SlowSituation.values()) {
          int current = round;
          lineup.forEach(contestant -> report.add(measure(contestant, situation, current)));
        }
      }
      print();
      RawData.keep(checkout, options.record(), report.csv(facts));
    }
  }

  private Map<String, String> facts(Checkout checkout) throws IOException, InterruptedException {
    var facts = new LinkedHashMap<>(HostFingerprint.take(checkout).facts());
    facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "%d rounds of %d s, %s at %d/s on %d connections, beside %d slow clients of each kind",
            options.rounds(),
            options.seconds(),
            SMALL.label(),
            RATE,
            options.connections(),
            each));
    return facts;
  }

  private SlowSample measure(Contestant contestant, SlowSituation situation, int round)
      throws IOException {
    var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), contestant.port());
    try (var slow = SlowClients.of(server, situation.kinds(), each)) {
      if (!situation.kinds().isEmpty()) {
        slow.start();
      }
      Runnable idle =
          () -> {
            slow.goOn();
            LoadSettings.offerCore();
          };
      load(contestant, SETTLING_SECONDS, -round, idle);
      long endedBefore = slow.ended();
      CpuTime before = contestant.process().cpuTime();
      LoadResult load = load(contestant, options.seconds(), round, idle);
      CpuTime cpu = contestant.process().cpuTime().minus(before);
      return new SlowSample(
          contestant.name(),
          situation,
          round,
          load.completed(),
          load.failed(),
          load.latencyMicros(50),
          load.latencyMicros(99),
          cpu.userMicros() + cpu.kernelMicros(),
          contestant.process().memory().residentBytes(),
          SocketMemory.bytes(),
          slow.ended() - endedBefore,
          load.isSaturated() || slow.isBehind());
    }
  }

  private LoadResult load(Contestant contestant, int seconds, long seed, Runnable idle)
      throws IOException {
    var content = FixedContent.octets(SMALL.size());
    var requests = RequestSource.always(LoadRequest.get("127.0.0.1", SMALL.path(), content));
    var schedule = RateSchedule.steady(RATE, Duration.ofSeconds(seconds));
    var settings = LoadSettings.persistent(contestant.port(), options.connections()).withIdle(idle);
    try (var client = OpenLoopClient.open(settings)) {
      return client.run(Arrivals.poisson(schedule, seed), requests);
    }
  }

  private void print() {
    for (SlowSituation situation : SlowSituation.values()) {
      System.out.println();
      System.out.println(report.table(situation));
    }
    List<String> verdicts = report.verdicts();
    verdicts.forEach(System.out::println);
    if (report.isClientLimited()) {
      System.out.println(
          "note: the client was at its limit, or kept from its core, in some rounds");
    }
  }
}
