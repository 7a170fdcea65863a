package io.kamille.perf.compare;

import io.kamille.perf.compare.FaultyOrigins.Fault;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** An origin that fails for a while: what clients of its route see, and those of another route. */
@Command
public final class FaultComparison extends Comparison {

  /*
   * The server runs alone on its core; load and origins, which are this process, share the other.
   * Half of the requests take the route whose first origin fails. Every tenth of those is a POST to
   * a target of its own, which may reach an origin only once. Time to the first octet counts.
   */

  private static final Duration TIME_LIMIT = Duration.ofSeconds(5);
  private static final int POST_EVERY = 10;
  private static final int HEALTHY_SECONDS = 5;

  /** Never so short that an origin has no time to come back. */
  private static final int AFTER_SECONDS = 15;

  private static final int QUICK_AFTER_SECONDS = 5;

  /** POSTs that an origin got though one had got them. */
  private static final Figure POSTED_TWICE = Figure.of("posted_twice");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("/a failed %", FaultTally.FAILED_SHARE, 3),
          Column.spread("/a worst wait ms", FaultTally.WORST_WAIT, 0),
          Column.spread("last failure s", FaultTally.LAST_FAILURE, 1),
          Column.sum("/a failed later", FaultTally.FAILED_AFTER),
          Column.sum("POST failed", FaultTally.POST_FAILED),
          Column.sum("POST twice", POSTED_TWICE),
          Column.spread("/b p99 µs", FaultTally.OTHER_DURING, 0),
          Column.spread("/b p99 × before", FaultTally.OTHER_RATIO, 2),
          Column.sum("/b failed", FaultTally.OTHER_FAILED));

  @Option(
      names = "--rate",
      description = "requests per second, half on each route (${DEFAULT-VALUE})")
  private int rate = 2000;

  @Option(names = "--origins", description = "of the route with the fault (${DEFAULT-VALUE})")
  private int origins = 2;

  @Option(names = "--faults", split = ",", description = "these of ${COMPLETION-CANDIDATES}")
  private List<Fault> faults = Arrays.stream(Fault.values()).skip(1).toList();

  private final LoadRequest failing = LoadRequest.get("127.0.0.1", "/a", FaultyOrigins.CONTENT);
  private final LoadRequest other = LoadRequest.get("127.0.0.1", "/b", FaultyOrigins.CONTENT);
  private final Samples samples = new Samples("fault");

  /** With 1,024 connections, or as many as there may be here. */
  public FaultComparison() {
    super(3, 10, 1024);
  }

  private int afterSeconds() {
    return isQuick ? QUICK_AFTER_SECONDS : AFTER_SECONDS;
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    connections = Workbench.possibleConnections(connections);
    List<Peer> peers = installed(List.of("kamille", Kamille.HEDGED, "nginx", "haproxy"));
    fact(
        "run",
        "%d rounds; %d s sound, %d s with each fault, %d s after; %d/s, half on each route, %d"
            + " connections, %d origins",
        rounds,
        HEALTHY_SECONDS,
        seconds,
        afterSeconds(),
        rate,
        connections,
        origins);
    begin();
    for (int round = 1; round <= rounds; round++) {
      for (Peer peer : peers) {
        round(peer, round);
      }
    }
    faults.forEach(fault -> print(samples.table(fault.label(), fault.label(), COLUMNS)));
    print(faults.stream().flatMap(FaultComparison::goals).toList(), samples);
    LoadFigures.noteLimits(this, samples.all());
    keep(samples);
  }

  private static Stream<Goal> goals(Fault fault) {
    String label = fault.label();
    return Stream.of(
        Goal.atMost(
            1.1,
            label + ": p99 of another route at most 1.1 × before",
            all -> all.spread(FaultTally.OTHER_RATIO, label, "kamille")),
        Goal.atMost(
            0.05,
            label + ": at most 0.05 % of safe requests fail",
            all -> all.spread(FaultTally.FAILED_SHARE, label, "kamille")),
        Goal.atMost(
            0, label + ": no POST comes twice", all -> all.spread(POSTED_TWICE, label, "kamille")));
  }

  private void round(Peer peer, int round) throws IOException, InterruptedException {
    int port = Workbench.freePort();
    try (var all = new FaultyOrigins(origins)) {
      var place = new Place(Job.FAULT, port, all.otherPort(), 8192).failing(all.ports());
      Contestant server = Contestant.start(bench(), peer, place);
      try {
        warm(server);
        for (Fault fault : faults) {
          samples.add(measure(server, all, fault, round));
        }
      } finally {
        server.process().stop();
      }
    }
  }

  /** Slowly at first: a server whose code is cold must not be in arrears when it is measured. */
  private void warm(Contestant server) throws IOException {
    int part = isQuick ? 1 : server.peer().warmupSeconds() / 2;
    for (int slower : List.of(rate / 10, rate / 2, rate)) {
      try (var client = open(server)) {
        LoadResult load = client.run(slower, Duration.ofSeconds(part), 0, alternating());
        if (slower == rate && load.failed() > 0 && !isQuick) {
          throw new IOException(server.name() + " fails with sound origins: " + load.failures());
        }
      }
    }
  }

  private Sample measure(Contestant server, FaultyOrigins all, Fault fault, int round)
      throws IOException {
    long faultNanos = Duration.ofSeconds(HEALTHY_SECONDS).toNanos();
    long healNanos = faultNanos + Duration.ofSeconds(seconds).toNanos();
    Duration length = Duration.ofSeconds(HEALTHY_SECONDS + seconds + afterSeconds());
    var tally = new FaultTally(failing, other, faultNanos, healNanos);
    all.postedTwice();
    try (var client = open(server)) {
      long begin = System.nanoTime();
      var script =
          CompletableFuture.runAsync(() -> play(all, fault, begin + faultNanos, begin + healNanos));
      var arrivals = Arrivals.poisson(RateSchedule.steady(rate, length), round);
      LoadResult load = client.run(arrivals, alternating(), tally::ended);
      script.join();
      return LoadFigures.with(tally.fill(Sample.of(fault.label(), server.name(), round)), load)
          .with(POSTED_TWICE, all.postedTwice());
    }
  }

  private static void play(FaultyOrigins all, Fault fault, long faultNanos, long healNanos) {
    try {
      park(faultNanos);
      all.change(fault);
      park(healNanos);
      all.change(Fault.NONE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void park(long untilNanos) {
    while (untilNanos - System.nanoTime() > 0) {
      LockSupport.parkNanos(untilNanos - System.nanoTime());
    }
  }

  private LoadClient open(Contestant server) throws IOException {
    return LoadClient.open(
        LoadSettings.persistent(server.port(), connections)
            .onSharedCore()
            .withTimeLimit(TIME_LIMIT));
  }

  private RequestSource alternating() {
    int[] count = {0};
    return () -> {
      int number = count[0]++;
      if (number % 2 != 0) {
        return other;
      }
      String target = String.format(Locale.ROOT, "/a?%d", number);
      return number % (2 * POST_EVERY) == 0
          ? LoadRequest.post("127.0.0.1", target, FaultyOrigins.CONTENT)
          : failing;
    };
  }
}
