package io.kamille.perf.compare;

import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;

/** Memory of Kamille and other servers for a persistent connection on which nothing happens. */
@Command
public final class IdleComparison extends Comparison {

  /*
   * Each server starts anew in each round, because none returns memory, and is warmed by some load.
   * Java servers get a heap that is touched from the beginning: the process then grows only by what
   * lies outside the heap, and the live objects, after a full collection, are added. Without this,
   * objects of connections would hide in pages that garbage had touched before.
   */

  private static final List<String> WHOLE_HEAP =
      List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");
  private static final int SOURCES = 8;
  private static final int GOAL_BYTES = 6 * 1024;

  private static final Figure OUTSIDE = Figure.of("outside_heap_bytes");
  private static final Figure INSIDE = Figure.of("in_heap_bytes");
  private static final Figure BYTES = OUTSIDE.plus(INSIDE);
  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("bytes/connection", BYTES, 0),
          Column.spread("outside heap", OUTSIDE, 0),
          Column.spread("in heap", INSIDE, 0));
  private static final Goal GOAL =
      Goal.atMost(
          GOAL_BYTES,
          "an idle connection takes at most " + GOAL_BYTES + " bytes",
          all -> all.spread(BYTES, "", "kamille"));

  /** With 10,000 connections, or as many as this machine allows. */
  public IdleComparison() {
    super(3, 3, 10_000);
  }

  @Override
  void run() throws IOException, InterruptedException {
    int count = Workbench.possibleConnections(connections);
    fact("run", "%d rounds, %d connections", rounds, count);
    begin();
    var samples = new Samples("");
    for (int round = 1; round <= rounds; round++) {
      int current = round;
      startServers(
          List.of("kamille", "nginx", "haproxy", "varnish"),
          new Place(Job.HIT, 0, 0, count).with(WHOLE_HEAP));
      forEach(
          server -> {
            server.prove(Subject.HIT);
            LoadProgram.wrk(bench(), 64, server.port(), Subject.HIT.path(), "", seconds);
            samples.add(measure(server, current, count));
          });
      stopServers();
    }
    print(samples.table("server", "", COLUMNS));
    print(List.of(GOAL), samples);
    keep(samples);
  }

  private Sample measure(Contestant server, int round, int count)
      throws IOException, InterruptedException {
    long heapBefore = liveHeap(server);
    MemoryUse before = server.process().memory();
    var open = new ArrayList<Socket>();
    try {
      for (int i = 0; i < count; i++) {
        open.add(ask(server, "127.0.0." + (2 + i % SOURCES)));
      }
      long heap = liveHeap(server) - heapBefore;
      double outside = server.process().memory().proportionalBytes() - before.proportionalBytes();
      return Sample.of("", server.name(), round)
          .with(OUTSIDE, outside / count)
          .with(INSIDE, (double) heap / count);
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  /** A connection that has had one answer. */
  private static Socket ask(Contestant server, String source) throws IOException {
    var socket = new Socket();
    socket.bind(new InetSocketAddress(source, 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
    String head = "GET " + Subject.HIT.path() + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    if (socket.getInputStream().read(new byte[1 << 16]) <= 0) {
      throw new IOException(server.name() + " closed a connection");
    }
    return socket;
  }

  private long liveHeap(Contestant server) throws IOException, InterruptedException {
    return server.peer().isJava() ? ProcessFigures.liveBytes(bench(), server.process().pid()) : 0;
  }
}
