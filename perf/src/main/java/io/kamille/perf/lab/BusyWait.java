package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Paper P3: what a busy wait before the loop blocks does to a round trip, and to a neighbour. */
@Command
final class BusyWait extends Experiment {

  /** How much, by scale. */
  private record Extent(int rounds, int trips, Duration limit) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(3, 5000, Duration.ofSeconds(3));
        case NORMAL -> new Extent(7, 20_000, Duration.ofSeconds(20));
        case FULL -> new Extent(7, 200_000, Duration.ofMinutes(5));
      };
    }
  }

  private static final String ALONE = "alone on the core";
  private static final String BESIDE = "beside a neighbour that computes";
  private static final String NONE = "0";

  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");

  /** Voluntary context switches of the server. */
  private static final Figure SLEEPS = Figure.of("sleeps_per_trip");

  private static final Figure CPU = Figure.of("cpu_micros_per_trip");

  /** How much of core 0 the neighbour got, 0 to 1; not known without a neighbour. */
  private static final Figure SHARE = Figure.of("neighbour_share");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("round trip p50 µs", P50, 1),
          Column.ratio("× without", P50, NONE),
          Column.spread("p99 µs", P99, 1),
          Column.spread("sleeps/trip", SLEEPS, 3),
          Column.spread("CPU µs/trip", CPU, 1),
          Column.spread("neighbour's share of the core %", SHARE.times(100), 1));

  private static final List<Integer> BUDGETS = List.of(0, 50, 200, 1000, 4000, 40_000);
  private static final byte[] BALL = {'E', 'c', 'h', 'o'};
  private static final long PAUSE_NANOS = 100_000;
  private static final int WARMING_TRIPS = 5000;
  private static final Duration WARMING_LIMIT = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final long GREATEST_NANOS = 60_000_000_000L;

  private final Samples samples = new Samples("situation", "budget_micros");

  BusyWait() {
    super("p3", "short busy wait: round trip, wake-ups, what a neighbour loses");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {extent.rounds(), extent.trips(), extent.limit().toSeconds()};
  }

  /** A server with a budget, and a connection to it. */
  private record Echo(int budgetMicros, Child process, SocketChannel channel) {

    private static Echo start(Workbench bench, int budget) throws IOException {
      int port = Workbench.freePort();
      List<String> options = List.of("-D" + Responder.SPIN + "=" + budget);
      Child process =
          bench.start("echo-" + budget, Core.SERVER, Jvm.command(Responder.class, options, port));
      process.awaitListening(port, START_LIMIT);
      var channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      return new Echo(budget, process, channel);
    }

    /** Round trips in nanoseconds: so many, with so long between two, for so long at most. */
    private Histogram play(int times, long pauseNanos, Duration limit) throws IOException {
      var trips = new Histogram(GREATEST_NANOS, 3);
      ByteBuffer out = ByteBuffer.allocateDirect(BALL.length).put(BALL);
      ByteBuffer in = ByteBuffer.allocateDirect(BALL.length);
      long first = System.nanoTime();
      for (int i = 0; i < times && System.nanoTime() - first < limit.toNanos(); i++) {
        long begin = System.nanoTime();
        channel.write(out.rewind());
        in.clear();
        while (in.hasRemaining()) {
          if (channel.read(in) < 0) {
            throw new IOException("the server closed the connection");
          }
        }
        long end = System.nanoTime();
        trips.recordValue(Math.clamp(end - begin, 0, GREATEST_NANOS));
        while (System.nanoTime() - end < pauseNanos) {
          Thread.onSpinWait();
        }
      }
      return trips;
    }
  }

  /** Computes and does nothing else, for as long as its core is given to it. */
  static final class Neighbour {
    private static volatile double result;

    private Neighbour() {}

    public static void main(String[] arguments) {
      double sum = 0;
      for (long i = 1; ; i++) {
        sum += 1.0 / i;
        if (i % 1_000_000 == 0) {
          result = sum;
          if (result < 0) {
            return;
          }
        }
      }
    }
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      bench.moveTo(Core.OTHERS);
      step("start and warm up");
      List<Echo> echoes = new ArrayList<>();
      for (int budget : BUDGETS) {
        Echo echo = Echo.start(bench, budget);
        echoes.add(echo);
        bench.undo(echo.channel());
      }
      for (Echo echo : echoes) {
        echo.play(WARMING_TRIPS, 0, WARMING_LIMIT);
      }
      play(echoes, null);
      play(
          echoes,
          bench.start("neighbour", Core.SERVER, Jvm.command(Neighbour.class, List.of(), 0)));
    }
  }

  private void play(List<Echo> echoes, @Nullable Child neighbour) throws IOException {
    for (int round = 1; round <= Extent.of(scale()).rounds(); round++) {
      for (Echo echo : echoes) {
        step(
            "budget %,d µs, %s, round %d",
            echo.budgetMicros(), neighbour == null ? ALONE : BESIDE, round);
        keep("trips.csv", samples, sample(echo, round, neighbour));
      }
    }
  }

  private Sample sample(Echo echo, int round, @Nullable Child neighbour) throws IOException {
    Extent extent = Extent.of(scale());
    RunTime before = echo.process().runTime();
    long sleepsBefore = ProcessFigures.sleeps(echo.process().pid());
    RunTime neighbourBefore = neighbour == null ? null : neighbour.runTime();
    long begin = System.nanoTime();
    Histogram trips = echo.play(extent.trips(), PAUSE_NANOS, extent.limit());
    double nanos = System.nanoTime() - begin;
    double share =
        neighbour == null || neighbourBefore == null
            ? Double.NaN
            : neighbour.runTime().since(neighbourBefore).ranNanos() / nanos;
    long ran = echo.process().runTime().since(before).ranNanos();
    long sleeps = ProcessFigures.sleeps(echo.process().pid()) - sleepsBefore;
    double count = trips.getTotalCount();
    return Sample.of(
            neighbour == null ? ALONE : BESIDE, Integer.toString(echo.budgetMicros()), round)
        .with(P50, trips.getValueAtPercentile(50) / 1e3)
        .with(P99, trips.getValueAtPercentile(99) / 1e3)
        .with(SLEEPS, sleeps / count)
        .with(CPU, ran / 1e3 / count)
        .with(SHARE, share);
  }

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/BusyWait.java",
        "proxy-core/src/main/java/io/kamille/core/loop",
        "perf/src/main/java/io/kamille/perf/load/Responder.java");
  }

  @Override
  void report(Report report) {
    for (String situation : samples.situations()) {
      report.heading(situation).table(samples.table("budget µs", situation, COLUMNS));
    }
  }
}
