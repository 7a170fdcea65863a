package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.JavaHeap;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.IdleConnections;
import io.kamille.perf.load.Wrk;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Memory of Kamille and other servers for a persistent connection on which nothing happens. */
public final class IdleComparison {

  /*
   * Each server starts anew in each round, because none returns memory, and is warmed by some load.
   * Java servers get a heap that is touched from the beginning: the process then grows only by what
   * lies outside the heap, and the live objects, after a full collection, are added. Without this,
   * objects of connections would hide in pages that garbage had touched before.
   */
  private static final List<String> WHOLE_HEAP =
      List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");

  private static final Subject SUBJECT = Subject.HITS.getFirst();
  private static final int WARM_CONNECTIONS = 64;
  private static final int GOAL_BYTES = 6 * 1024;

  private final ComparisonOptions options;
  private final List<IdleSample> samples = new ArrayList<>();
  private final Map<String, String> facts = new LinkedHashMap<>();

  private IdleComparison(ComparisonOptions options) {
    this.options = options;
  }

  /** Compares with as many of the wanted connections as this machine allows. */
  public static IdleComparison of(ComparisonOptions options) throws IOException {
    int possible = DescriptorLimit.connections(options.connections());
    return new IdleComparison(options.withConnections(possible));
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    facts.putAll(HostFingerprint.take(checkout).facts());
    facts.put("run", options.rounds() + " rounds, " + options.connections() + " connections");
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    try (var bench = Workbench.open()) {
      var wrk = Wrk.open(bench, WARM_CONNECTIONS);
      var origin = Origin.start(bench);
      for (int round = 1; round <= options.rounds(); round++) {
        var lineup = Lineup.start(bench, checkout, Job.HIT, origin, options, WHOLE_HEAP);
        int current = round;
        lineup.forEach(
            contestant -> {
              warm(contestant, wrk);
              samples.add(measure(contestant, bench, current));
            });
        lineup.stop();
      }
    }
    print();
    RawData.keep(checkout, options.record(), RawData.csvOfIdle(facts, samples));
  }

  private void warm(Contestant contestant, Wrk wrk) throws IOException, InterruptedException {
    facts.putIfAbsent(contestant.name(), contestant.peer().version());
    contestant.prove(SUBJECT);
    wrk.run(contestant.port(), SUBJECT.path(), SUBJECT.coding(), options.seconds());
  }

  private IdleSample measure(Contestant contestant, Workbench bench, int round)
      throws IOException, InterruptedException {
    int count = options.connections();
    long heapBefore = liveHeap(contestant, bench);
    MemoryUse before = contestant.process().memory();
    try (var connections = IdleConnections.open(count, contestant.port(), SUBJECT.path())) {
      long heapAfter = liveHeap(contestant, bench);
      MemoryUse after = contestant.process().memory();
      int open = connections.openCount();
      if (open < count) {
        throw new IOException(contestant.name() + " kept " + open + " of " + count + " open");
      }
      return new IdleSample(contestant.name(), round, count, before, after, heapBefore, heapAfter);
    }
  }

  private static long liveHeap(Contestant contestant, Workbench bench)
      throws IOException, InterruptedException {
    return contestant.peer().isJava() ? JavaHeap.liveBytes(bench, contestant.process().pid()) : 0;
  }

  private void print() {
    var table = new Table("server", "bytes/connection", "outside heap", "in heap", "MiB before");
    samples.stream().map(IdleSample::server).distinct().forEach(name -> table.row(row(name)));
    System.out.println();
    System.out.println(table);
    List<IdleSample> kamille = of("kamille");
    if (kamille.isEmpty()) {
      System.out.println("unknown whether kamille takes at most " + GOAL_BYTES + " bytes");
      return;
    }
    double median = Spread.of(kamille, IdleSample::bytesPerConnection).median();
    System.out.printf(
        Locale.ROOT,
        "%s an idle connection takes at most %d bytes: %.0f%n",
        median <= GOAL_BYTES ? "met    " : "missed ",
        GOAL_BYTES,
        median);
  }

  private List<String> row(String server) {
    List<IdleSample> rounds = of(server);
    return List.of(
        server,
        Spread.of(rounds, IdleSample::bytesPerConnection).text(0),
        Spread.of(rounds, IdleSample::nativeBytesPerConnection).text(0),
        Spread.of(rounds, IdleSample::heapBytesPerConnection).text(0),
        Spread.of(rounds, sample -> sample.before().proportionalBytes() / 1048576.0).text(0));
  }

  private List<IdleSample> of(String server) {
    return samples.stream().filter(sample -> sample.server().equals(server)).toList();
  }
}
