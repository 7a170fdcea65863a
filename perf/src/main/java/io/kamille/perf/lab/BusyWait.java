package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Paper P3: what a busy wait before the loop blocks does to a round trip, and to a neighbour. */
@Command
final class BusyWait extends Experiment {

  /** How much, by scale. */
  private record Extent(int rounds, int trips, Duration limit, Duration planned, Duration sending) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> of(3, 5000, 3, 2000, 150);
        case NORMAL -> of(7, 20_000, 20, 5000, 400);
        case FULL -> of(7, 200_000, 300, 60_000, 2000);
      };
    }

    private static Extent of(int rounds, int trips, int seconds, int planned, int sending) {
      return new Extent(
          rounds,
          trips,
          Duration.ofSeconds(seconds),
          Duration.ofMillis(planned),
          Duration.ofMillis(sending));
    }
  }

  /**
   * An echo server with a busy wait.
   *
   * @param isGuarded whether it waits busily only while nobody else wants the processor
   */
  private record Wait(int budgetMicros, boolean isGuarded) {

    private String label() {
      return budgetMicros + (isGuarded ? " with Kamille's guard" : "");
    }
  }

  private static final String ALONE = "alone on the core";
  private static final String BESIDE = "beside a neighbour that computes";
  private static final String NONE = "0";
  private static final String JIFFY = "4000";
  private static final String TEN_JIFFIES = "40000";
  private static final String STORED = "stored octets to a socket";

  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");

  /** Voluntary context switches of the loop, one at the least. */
  private static final Figure SLEEPS = Figure.of("sleeps_per_trip");

  private static final Figure CPU = Figure.of("cpu_micros_per_trip");

  /** What was done of the trips that were planned, 0 to 1. */
  private static final Figure DONE = Figure.of("done_share");

  /** How much of core 0 the neighbour got, 0 to 1; not known without a neighbour. */
  private static final Figure SHARE = Figure.of("neighbour_share");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("round trip p50 µs", P50, 1),
          Column.ratio("× without", P50, NONE),
          Column.spread("p99 µs", P99, 1),
          Column.spread("sleeps/trip", SLEEPS, 3),
          Column.spread("CPU µs/trip", CPU, 1),
          Column.spread("neighbour's share of the core %", SHARE.times(100), 1),
          Column.ratio("× without", SHARE, NONE));

  private static final List<Wait> WAITS =
      List.of(
          new Wait(0, false),
          new Wait(50, false),
          new Wait(200, false),
          new Wait(1000, false),
          new Wait(4000, false),
          new Wait(40_000, false),
          new Wait(1000, true));
  private static final List<Integer> SIZES = List.of(512, 1024, 2048, 4096, 16_384, 65_536);

  /** Trips a second beside a neighbour, whatever the busy wait. */
  private static final int RATE = 2000;

  private static final double LEAST_DONE = 0.98;

  /** A guard looks once a second. */
  private static final Duration LOOK = Duration.ofMillis(2500);

  /** The loop's thread, by what the kernel knows of its name. */
  private static final String LOOP = "multiThreadIoEv";

  private static final byte[] BALL = {'E', 'c', 'h', 'o'};
  private static final long PAUSE_NANOS = 100_000;
  private static final int WARMING_TRIPS = 5000;
  private static final Duration WARMING_LIMIT = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final long GREATEST_NANOS = 60_000_000_000L;

  private final Samples samples = new Samples("situation", "budget_micros");
  private final Samples sendings = new Samples("object_bytes", "way");

  BusyWait() {
    super("p3", "short busy wait: round trip, wake-ups, what a neighbour loses");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {
      extent.rounds(),
      extent.trips(),
      extent.limit().toSeconds(),
      RATE,
      extent.planned().toSeconds()
    };
  }

  /** A server with a budget, and a connection to it. */
  private record Echo(Wait busy, Child process, SocketChannel channel) {

    private static Echo start(Workbench bench, Wait busy) throws IOException {
      int port = Workbench.freePort();
      List<String> options =
          List.of(
              "-D" + Responder.SPIN + "=" + busy.budgetMicros(),
              "-D" + Responder.GUARD + "=" + busy.isGuarded());
      Child process =
          bench.start("echo-" + port, Core.SERVER, Jvm.command(Responder.class, options, port));
      process.awaitListening(port, START_LIMIT);
      var channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      return new Echo(busy, process, channel);
    }

    /** Trips at {@link #RATE}, each counted from the instant at which it was due. */
    private Histogram playByTheClock(Duration planned) throws IOException {
      var trips = new Histogram(GREATEST_NANOS, 3);
      long first = System.nanoTime();
      long due = first;
      while (due - first < planned.toNanos() && System.nanoTime() - first < planned.toNanos()) {
        while (System.nanoTime() - due < 0) {
          Thread.onSpinWait();
        }
        trip(channel);
        trips.recordValue(Math.clamp(System.nanoTime() - due, 0, GREATEST_NANOS));
        due += 1_000_000_000L / RATE;
      }
      return trips;
    }
  }

  /** Round trips in nanoseconds: so many, with so long between two, for so long at most. */
  static Histogram play(SocketChannel channel, int times, long pauseNanos, Duration limit)
      throws IOException {
    var trips = new Histogram(GREATEST_NANOS, 3);
    long first = System.nanoTime();
    for (int i = 0; i < times && System.nanoTime() - first < limit.toNanos(); i++) {
      long begin = System.nanoTime();
      trip(channel);
      long end = System.nanoTime();
      trips.recordValue(Math.clamp(end - begin, 0, GREATEST_NANOS));
      while (System.nanoTime() - end < pauseNanos) {
        Thread.onSpinWait();
      }
    }
    return trips;
  }

  private static void trip(SocketChannel channel) throws IOException {
    channel.write(ByteBuffer.wrap(BALL));
    ByteBuffer in = ByteBuffer.allocate(BALL.length);
    while (in.hasRemaining()) {
      if (channel.read(in) < 0) {
        throw new IOException("the server closed the connection");
      }
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
      for (Wait busy : WAITS) {
        Echo echo = Echo.start(bench, busy);
        echoes.add(echo);
        bench.undo(echo.channel());
      }
      for (Echo echo : echoes) {
        play(echo.channel(), WARMING_TRIPS, 0, WARMING_LIMIT);
      }
      play(echoes, null);
      sendStored(bench);
      play(
          echoes,
          bench.start("neighbour", Core.SERVER, Jvm.command(Neighbour.class, List.of(), 0)));
    }
  }

  private void play(List<Echo> echoes, @Nullable Child neighbour) throws IOException {
    String situation = neighbour == null ? ALONE : BESIDE;
    for (int round = 1; round <= Extent.of(scale()).rounds(); round++) {
      for (Echo echo : echoes) {
        step("%s µs, %s, round %d", echo.busy().label(), situation, round);
        if (echo.busy().isGuarded()) {
          echo.playByTheClock(LOOK);
        }
        var sample = Sample.of(situation, echo.busy().label(), round);
        keep("trips.csv", samples, measure(sample, echo, neighbour));
      }
    }
  }

  private Sample measure(Sample sample, Echo echo, @Nullable Child neighbour) throws IOException {
    Extent extent = Extent.of(scale());
    var server = CoreMeter.start(List.of(echo.process()));
    var both =
        CoreMeter.start(
            neighbour == null ? List.of(echo.process()) : List.of(echo.process(), neighbour));
    long sleepsBefore = ProcessFigures.sleeps(echo.process().pid(), LOOP);
    Histogram trips =
        neighbour == null
            ? play(echo.channel(), extent.trips(), PAUSE_NANOS, extent.limit())
            : echo.playByTheClock(extent.planned());
    long sleeps = ProcessFigures.sleeps(echo.process().pid(), LOOP) - sleepsBefore;
    Sample ofServer = server.stop(Sample.of("", "", 1));
    both.stop(sample);
    double count = trips.getTotalCount();
    double planned = neighbour == null ? count : extent.planned().toMillis() * RATE / 1e3;
    double neighbourNanos =
        neighbour == null ? Double.NaN : sample.of(CoreMeter.RAN) - ofServer.of(CoreMeter.RAN);
    return sample
        .with(P50, trips.getValueAtPercentile(50) / 1e3)
        .with(P99, trips.getValueAtPercentile(99) / 1e3)
        .with(SLEEPS, Math.max(1, sleeps) / count)
        .with(CPU, ofServer.of(CoreMeter.RAN) / 1e3 / count)
        .with(SHARE, neighbourNanos / sample.of(CoreMeter.NANOS))
        .with(DONE, count / planned);
  }

  private void sendStored(Workbench bench) throws IOException {
    int port = Workbench.freePort();
    String host = NetUtil.toAddressString(InetAddress.getLoopbackAddress());
    List<String> arguments = List.of(host, Integer.toString(port));
    bench
        .start("sink", Core.SERVER, Jvm.command(BurstSink.class, List.of(), arguments))
        .awaitPrinted(BurstSink.LISTENS, 1, START_LIMIT);
    var sink = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    Duration length = Extent.of(scale()).sending();
    for (int size : SIZES) {
      try (var sending = new StoredSending(size)) {
        for (int round = 0; round <= Extent.of(scale()).rounds(); round++) {
          step("%s: %,d octets, round %d", STORED, size, round);
          for (var way : StoredSending.Way.values()) {
            Sample sample = sending.send(sink, way, length, round);
            if (round > 0) {
              keep("stored.csv", sendings, sample);
            }
          }
        }
      }
    }
  }

  /** Work is equal only if the planned trips were made: a loop that yields may be too slow. */
  private Finding ofNeighbour(String claim, String wait) {
    Samples calm = CoreMeter.undisturbed(samples);
    double without = calm.spread(DONE, BESIDE, NONE).map(Spread::median).orElse(0.0);
    double with = calm.spread(DONE, BESIDE, wait).map(Spread::median).orElse(LEAST_DONE);
    return without >= LEAST_DONE && with < LEAST_DONE
        ? Finding.atLeast(
            claim,
            with,
            LEAST_DONE,
            LEAST_DONE,
            String.format(
                Locale.ROOT,
                "no equal work: %.0f %% of the planned trips, all without a busy wait",
                with * 100))
        : Finding.atLeast(claim, undisturbed().ratio(SHARE, BESIDE, wait, NONE), 0.96, 0.85);
  }

  private Samples undisturbed() {
    return CoreMeter.undisturbed(samples).where(one -> one.of(DONE) >= LEAST_DONE);
  }

  @Override
  List<Finding> findings() {
    Samples good = undisturbed();
    return List.of(
        Finding.atLeast(
            "without a busy wait, the round trip is 1.29 times that with one jiffy (292 of 226 µs)",
            good.ratio(P50, ALONE, NONE, JIFFY),
            1.29,
            1.05),
        Finding.atLeast(
            "one jiffy leaves 565 of 199,983 wake-ups: 354 times fewer",
            good.ratio(SLEEPS, ALONE, NONE, JIFFY),
            354,
            10),
        Finding.atLeast(
            "ten jiffies gain no more than one (228 of 226 µs)",
            good.ratio(P50, ALONE, TEN_JIFFIES, JIFFY),
            0.95,
            0.8),
        ofNeighbour("one jiffy leaves a neighbour 0.996 of its share (489 of 491)", JIFFY),
        ofNeighbour("ten jiffies leave it 0.97 (475 of 491)", TEN_JIFFIES),
        Finding.untested(
            "a network of the guest's own leaves the neighbour less (380 of 491)",
            "p3-network measures the CPU time of such a network"),
        Finding.atLeast(
            "a copy less gives 1.18 times the bandwidth with buffers of 512 octets",
            sendings.ratio(
                StoredSending.RATE,
                "512",
                StoredSending.Way.ARENA.label,
                StoredSending.Way.COPY.label),
            1.18,
            1.03),
        Finding.untested(
            "a copy less makes a round trip of 4 octets 19 µs shorter",
            "copies of 4 octets take no time that can be measured; the paper's were system calls"));
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/BusyWait.java",
        "perf/src/main/java/io/kamille/perf/lab/StoredSending.java",
        "perf/src/main/java/io/kamille/perf/lab/BurstSink.java",
        "perf/src/main/java/io/kamille/perf/lab/CoreMeter.java",
        "proxy-core/src/main/java/io/kamille/core/loop",
        "proxy-cache/src/main/java/io/kamille/cache/memory/StoredBytes.java",
        "perf/src/main/java/io/kamille/perf/load/Responder.java");
  }

  @Override
  void report(Report report) {
    Samples good = undisturbed();
    report.paragraph(
        "Disturbed and left out: "
            + (samples.all().size() - good.all().size())
            + " of "
            + samples.all().size()
            + " cells.");
    for (String situation : good.situations()) {
      report.heading(situation).table(good.table("budget µs", situation, COLUMNS));
    }
    report
        .heading("Planned trips that were made")
        .table(
            CoreMeter.undisturbed(samples)
                .table(
                    "budget µs",
                    BESIDE,
                    List.of(
                        Column.spread("% of the planned trips", DONE.times(100), 0),
                        Column.spread("neighbour's share of the core %", SHARE.times(100), 1))));
    report
        .heading(STORED)
        .table(sendings.wholeTable("way", "object, octets", StoredSending.COLUMNS))
        .plot(
            "stored",
            new LineChart("Rate over object size", "octets", "MB/s")
                .lines(sendings, StoredSending.RATE));
  }
}
