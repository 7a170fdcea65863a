package io.kamille.perf.compare;

import io.kamille.perf.host.JavaProcess;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.load.IdleConnections;
import io.kamille.perf.load.Wrk;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.List;

/** Memory of Kamille and other servers for a persistent connection on which nothing happens. */
public final class IdleComparison {

  /*
   * Each server starts anew in each round, because none returns memory, and is warmed by some load.
   * Java servers get a heap that is touched from the beginning: the process then grows only by what
   * lies outside the heap, and the live objects, after a full collection, are added. Without this,
   * objects of connections would hide in pages that garbage had touched before.
   */

  /** What can be chosen. */
  public static final Options OPTIONS = Session.options(3, 3, 10_000, Lineup.NAMES, List.of());

  private static final List<String> WHOLE_HEAP =
      List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");
  private static final Subject SUBJECT = Subject.HITS.getFirst();
  private static final int WARM_CONNECTIONS = 64;
  private static final int GOAL_BYTES = 6 * 1024;

  private static final Figure CONNECTIONS = Figure.of("connections");
  private static final Figure BEFORE = Figure.of("proportional_bytes_before");
  private static final Figure AFTER = Figure.of("proportional_bytes_after");
  private static final Figure HEAP_BEFORE = Figure.of("live_heap_bytes_before");
  private static final Figure HEAP_AFTER = Figure.of("live_heap_bytes_after");
  static final Figure OUTSIDE = AFTER.plus(BEFORE.times(-1)).per(CONNECTIONS);
  static final Figure INSIDE = HEAP_AFTER.plus(HEAP_BEFORE.times(-1)).per(CONNECTIONS);
  static final Figure BYTES = OUTSIDE.plus(INSIDE);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("bytes/connection", BYTES, 0),
          Column.spread("outside heap", OUTSIDE, 0),
          Column.spread("in heap", INSIDE, 0),
          Column.spread("MiB before", BEFORE.times(1.0 / (1 << 20)), 0));

  private static final Goal GOAL =
      Goal.atMost(
          GOAL_BYTES,
          "an idle connection takes at most " + GOAL_BYTES + " bytes",
          samples -> samples.spread(BYTES, "", "kamille"));

  private IdleComparison() {}

  /** Compares with as many of the wanted connections as this machine allows. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    int connections = DescriptorLimit.connections(chosen.number("--connections"));
    try (var session = Session.open(chosen)) {
      var wrk = Wrk.open(session.bench(), WARM_CONNECTIONS);
      session.fact("run", "%d rounds, %d connections", session.rounds(), connections);
      session.begin();
      var samples = new Samples("");
      for (int round = 1; round <= session.rounds(); round++) {
        int current = round;
        var lineup = session.lineup(Job.HIT, connections, WHOLE_HEAP);
        lineup.forEach(
            server -> {
              server.prove(SUBJECT);
              wrk.run(server.port(), SUBJECT.path(), SUBJECT.coding(), session.seconds());
              samples.add(measure(session, server, current, connections));
            });
        lineup.stop();
      }
      session.print(samples.table("server", "", COLUMNS));
      session.print("Goals of kamille", List.of(GOAL), samples);
      session.keep(samples);
    }
  }

  private static Sample measure(Session session, Contestant server, int round, int count)
      throws IOException, InterruptedException {
    var request = SUBJECT.request("127.0.0.1:" + server.port());
    long heapBefore = liveHeap(session, server);
    MemoryUse before = server.process().memory();
    try (var connections = IdleConnections.open(count, server.port(), request)) {
      long heapAfter = liveHeap(session, server);
      MemoryUse after = server.process().memory();
      int open = connections.openCount();
      if (open < count) {
        throw new IOException(server.name() + " kept " + open + " of " + count + " open");
      }
      return sample(server.name(), round, count, before, after, heapBefore, heapAfter);
    }
  }

  /**
   * One server in one round.
   *
   * @param heapBefore octets of live Java objects, 0 for servers that have none
   */
  static Sample sample(
      String server,
      int round,
      int connections,
      MemoryUse before,
      MemoryUse after,
      long heapBefore,
      long heapAfter) {
    return Sample.of("", server, round)
        .with(CONNECTIONS, connections)
        .with(BEFORE, before.proportionalBytes())
        .with(AFTER, after.proportionalBytes())
        .with(HEAP_BEFORE, heapBefore)
        .with(HEAP_AFTER, heapAfter);
  }

  private static long liveHeap(Session session, Contestant server)
      throws IOException, InterruptedException {
    return server.peer().isJava()
        ? JavaProcess.liveBytes(session.bench(), server.process().pid())
        : 0;
  }
}
