package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.lab.TunedRun.AllocationTrace;
import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.load.SurgeClients;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/** P4: who gets how much send buffer, and what that does to goodput and to memory. */
@Command
final class BufferTuning extends Experiment {

  /*
   * Every way is a process of its own that serves the same object to the same crowd, over an
   * emulator of equal seed. Memory is what the kernel has queued for the server's connections (ss),
   * not sockstat: that counts what receivers have not read, too, and these are on the same machine.
   *
   * By sendfile or copied: 32 KiB is the least that Kamille sends by sendfile. Clients are in the
   * server's own namespace, on the other core: what a path takes would hide what a copy takes.
   */

  /** How long and how much, by scale. */
  private record Extent(
      List<Integer> slow,
      int readers,
      int mixed,
      int settling,
      int counted,
      List<Integer> kibibytes,
      List<Integer> clients,
      List<Integer> users,
      Duration browsing) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                List.of(0, 200),
                200,
                400,
                4,
                3,
                List.of(64, 512, 4096),
                List.of(10),
                List.of(60),
                Duration.ofSeconds(3));
        case NORMAL ->
            new Extent(
                List.of(0, 50, 200),
                1000,
                2000,
                12,
                12,
                List.of(32, 64, 256, 1024, 4096),
                List.of(1, 10, 60),
                List.of(10, 60, 600),
                Duration.ofSeconds(20));
        case FULL ->
            new Extent(
                List.of(0, 10, 25, 50, 100, 150, 200),
                1000,
                2000,
                20,
                60,
                List.of(32, 64, 128, 256, 1024, 4096),
                List.of(1, 10, 60, 600),
                List.of(10, 60, 600),
                Duration.ofMinutes(30));
      };
    }
  }

  /** A way in which send buffers are decided on. */
  private enum Way {
    OFF("kernel alone"),
    KERNEL("kernel, bounded unsent"),
    EQUATION("by equation (E-ATBT)");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    /** In the words of the configuration. */
    private String settings(String budget) {
      String policy = name().toLowerCase(Locale.ROOT);
      return "tuning:\n  policy: " + policy + "\n  budget: " + budget + "\n";
    }
  }

  private static final String PAPER_BUDGET = "512KiB";
  private static final String BUDGET = "256MiB";
  private static final String CONGESTION_CONTROL = "cubic";
  private static final String FAST = "delay=1500us loss=0.1% rate=1000mbit queue=1000k";
  private static final String SLOW = "delay=1500us rate=100mbit queue=100k";
  private static final String READERS = "delay=10ms rate=100mbit";
  private static final int SLOW_READER = 8 << 10;
  private static final String WEB_BUDGET = "32MiB";
  private static final int USERS_OF_LINK = 200;
  private static final long SEED = 8;
  private static final double MEGABIT = 8e-6;
  private static final double MIB = 1 << 20;
  private static final int CLIENTS_OF_LINK = 100;
  private static final int CONNECTIONS = 2000;
  private static final String COPIED = "copied";

  /** Of the one fast connection. */
  private static final Figure FAST_GOODPUT = TunedRun.goodput("fast");

  private static final Figure BYTES = Figure.of("goodput_bytes");
  private static final Figure CPU_PER_MIB = Figure.of("cpu_micros_per_mib");

  private static final Figure RESPONSES = Figure.of("responses");
  private static final Figure MILLIS = Figure.of("millis");
  private static final Figure CPU = Figure.of("cpu");
  private static final List<Column> USERS =
      List.of(
          Column.median("responses/s", RESPONSES, 1),
          Column.median("ms for each", MILLIS, 0),
          Column.median("CPU, start included", CPU, 2),
          Column.median("late ms", TunedRun.LATE.times(1e-3), 1));

  private static final Column MEMORY =
      Column.median("send memory, MiB", TunedRun.MEMORY.times(1 / MIB), 1);
  private static final Column EACH =
      Column.median("KiB for each", TunedRun.MEMORY.per(TunedRun.CLIENTS).times(1.0 / 1024), 0);
  private static final List<Column> REGION =
      List.of(
          Column.median("MiB/s", BYTES.times(1 / MIB), 0),
          Column.ratio("rate ×", BYTES, COPIED),
          Column.median("CPU µs/MiB", CPU_PER_MIB, 0),
          Column.ratio("CPU ×", CPU_PER_MIB, COPIED));
  private static final List<Column> BESIDE =
      List.of(
          Column.median("Mbit/s of the fast one", FAST_GOODPUT.times(MEGABIT), 0),
          Column.multiple("of alone", FAST_GOODPUT, "0"),
          EACH);

  private final Samples region = new Samples("object, clients", "content");
  private final Samples beside = new Samples("slow", "way");
  private final Samples slowReaders = new Samples("", "way");
  private final Samples mixed = new Samples("", "way");
  private final Samples users = new Samples("users", "way");
  private final AllocationTrace trace = new AllocationTrace();

  BufferTuning() {
    super("p4", "send buffers: policy × paths, memory at equal goodput (as root)");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {CONGESTION_CONTROL, extent.counted(), extent.settling()};
  }

  @Override
  void measure() throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    Duration settling = Duration.ofSeconds(extent.settling());
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var runs = new TunedRun(bench, spaces, settling, Duration.ofSeconds(extent.counted()));
      regionOrCopy(runs, extent);
      overTime(runs);
      for (Way way : Way.values()) {
        besideSlowOnes(runs, way, extent.slow());
        slowReaders(runs, way, extent.readers());
        mixedPaths(runs, way, extent.mixed() / 5);
        for (int count : extent.users()) {
          for (boolean isPersistent : new boolean[] {false, true}) {
            String situation = count + (isPersistent ? ", persistent" : ", HTTP/1.0");
            step("users: %s, %s", situation, way.label);
            var sample = Sample.of(situation, way.label, 1);
            keep("users.csv", users, browse(runs, way, count, isPersistent, extent, sample));
          }
        }
      }
    }
  }

  /** The paper's Fig. 4. */
  private void regionOrCopy(TunedRun runs, Extent extent) throws IOException, InterruptedException {
    for (String label : List.of(COPIED, "by sendfile")) {
      step("content %s", label);
      String from = label.equals(COPIED) ? "off" : "32KiB";
      String cache = "  memory:\n    capacity: 256MiB\n    sendfile-from: " + from + "\n";
      var kamille = Kamille.of(Checkout.find()).withCache(cache);
      try (var server = WanServer.start(runs.bench(), runs.spaces(), kamille, CONNECTIONS)) {
        for (int kibibytes : extent.kibibytes()) {
          for (int count : extent.clients()) {
            String situation = kibibytes + " KiB, " + count;
            keep(
                "region.csv",
                region,
                fetch(runs, server, kibibytes << 10, count, Sample.of(situation, label, 1)));
          }
        }
      }
    }
  }

  private static Sample fetch(TunedRun runs, WanServer server, int size, int count, Sample sample)
      throws IOException, InterruptedException {
    var fetcher = new Fetcher(0, Namespaces.SERVER_ADDRESS, Fetcher.UNLIMITED, Duration.ZERO);
    try (var clients =
        PathClients.open(
            WanServer.address(),
            WanServer.authority(),
            OriginTarget.of(size, size),
            Collections.nCopies(count, fetcher))) {
      return runs.spaces()
          .callAtServer(
              () -> {
                clients.run(Duration.ofMillis(500), Duration.ofMillis(1));
                CpuTime before = server.cpuTime();
                List<Long> octets = clients.run(Duration.ZERO, runs.counted());
                double bytes = octets.stream().mapToLong(Long::longValue).sum();
                return sample
                    .with(BYTES, bytes / runs.counted().toSeconds())
                    .with(CPU_PER_MIB, server.cpuTime().minus(before).micros() / (bytes / MIB));
              });
    }
  }

  /** The paper's Fig. 6. */
  private void overTime(TunedRun runs) throws IOException, InterruptedException {
    step("allocation over time");
    var four =
        new Crowd()
            .with("slow", "delay=20ms loss=1% rate=10mbit queue=60k", 1, 1, Fetcher.UNLIMITED)
            .with("fast", "delay=1500us loss=0.1% rate=100mbit queue=100k", 1, 2, Fetcher.UNLIMITED)
            .later("later", 3, runs.settling().dividedBy(2));
    runs.measure(
        Sample.of("", Way.EQUATION.label, 1), Way.EQUATION.settings(PAPER_BUDGET), four, trace);
  }

  /** The paper's Fig. 7. */
  private void besideSlowOnes(TunedRun runs, Way way, List<Integer> numbers)
      throws IOException, InterruptedException {
    for (int slow : numbers) {
      step("one fast connection beside %d slow ones, %s", slow, way.label);
      var clients =
          new Crowd()
              .with("fast", FAST, 1, 1, Fetcher.UNLIMITED)
              .with("slow", SLOW, Math.min(1, slow), slow, Fetcher.UNLIMITED);
      var sample = Sample.of(Integer.toString(slow), way.label, 1);
      keep("beside.csv", beside, runs.measure(sample, way.settings(PAPER_BUDGET), clients));
    }
  }

  /** Clients that read 8 KiB/s, or nothing. */
  private void slowReaders(TunedRun runs, Way way, int readers)
      throws IOException, InterruptedException {
    step("clients that hardly read, %s", way.label);
    int half = readers / 2;
    var clients =
        new Crowd()
            .with("8 KiB/s", READERS, half / each(half), each(half), SLOW_READER)
            .with("nothing", READERS, half / each(half), each(half), 0);
    var sample = Sample.of("", way.label, 1);
    keep("slow-readers.csv", slowReaders, runs.measure(sample, way.settings(BUDGET), clients));
  }

  private void mixedPaths(TunedRun runs, Way way, int part)
      throws IOException, InterruptedException {
    step("mixed paths, %s", way.label);
    String lte = "delay=30ms jitter=5ms rate=3mbit queue=100k";
    var clients =
        new Crowd()
            .with("DSL", "delay=15ms rate=2mbit queue=40k", part / 10, 10, Fetcher.UNLIMITED)
            .with("LTE", lte, part / 10, 10, Fetcher.UNLIMITED)
            .with("lossy", "delay=50ms loss=5%", part / each(part), each(part), Fetcher.UNLIMITED)
            .with("long", "delay=125ms loss=2%", part / each(part), each(part), Fetcher.UNLIMITED)
            .with("LAN", "delay=500us rate=60mbit queue=100k", 1, 5, Fetcher.UNLIMITED)
            .with("8 KiB/s", READERS, part / each(part), each(part), SLOW_READER);
    var sample = Sample.of("", way.label, 1);
    keep("mixed.csv", mixed, runs.measure(sample, way.settings(BUDGET), clients));
  }

  /** The paper's Fig. 8. */
  private static Sample browse(
      TunedRun runs, Way way, int count, boolean isPersistent, Extent extent, Sample sample)
      throws IOException, InterruptedException {
    var links = new ArrayList<LinkSettings>();
    var locals = new ArrayList<String>();
    for (int user = 0; user < count; user++) {
      if (user % USERS_OF_LINK == 0) {
        links.add(LinkSettings.symmetric("users" + links.size(), READERS));
      }
      locals.add(Namespaces.address(links.size(), user % USERS_OF_LINK + 1));
    }
    Namespaces spaces = runs.spaces();
    var kamille = Kamille.of(Checkout.find()).with(way.settings(WEB_BUDGET));
    try (var server = WanServer.start(runs.bench(), spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      SurgeClients.Outcome outcome =
          spaces.callAtClient(
              () ->
                  SurgeClients.run(
                      WanServer.address(),
                      WanServer.authority(),
                      locals,
                      isPersistent,
                      SEED,
                      runs.settling(),
                      extent.browsing()));
      double micros = runs.settling().plus(extent.browsing()).toNanos() / 1e3;
      return sample
          .with(RESPONSES, (double) outcome.responses() / extent.browsing().toSeconds())
          .with(MILLIS, outcome.meanNanos() / 1e6)
          .with(CPU, server.cpuTime().micros() / micros)
          .with(TunedRun.LATE, wan.stats().latenessP99Nanos() / 1e3);
    }
  }

  /** Clients behind one link. */
  private static int each(int clients) {
    return Math.min(clients, CLIENTS_OF_LINK);
  }

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/BufferTuning.java",
        "proxy-admin/src/main/java/io/kamille/admin/tuning",
        "perf/src/main/java/io/kamille/perf/lab/TunedRun.java",
        "perf/src/main/java/io/kamille/perf/wan");
  }

  @Override
  void report(Report report) {
    report.heading("By sendfile or copied (Fig. 4)");
    report.paragraph("Clients are on the same machine, without a path between.");
    report.table(region.wholeTable("content", "object, clients", REGION));
    report.heading("Allocation over time, by equation (Fig. 6)");
    var allocations = new LineChart("512 KiB for four connections", "seconds", "KiB");
    trace.lines().forEach((number, points) -> allocations.line("connection " + number, points));
    report.plot("allocation-equation", allocations);
    report.heading("One fast connection beside slow ones (Fig. 7)");
    report.paragraph(
        "The fast connection: 1 Gbit/s, round trip 3 ms, loss 0.1 %. The slow ones share 100 Mbit/s"
            + " at 3 ms. Budget 512 KiB; it binds by equation. Of alone: in parts of what the fast"
            + " one has with 0 slow ones, the same way.");
    report.table(beside.wholeTable("way", "slow ones", BESIDE));
    report.heading("Clients that hardly read");
    report.paragraph("Half of them read 8 KiB/s of 4 MiB, half stop reading at once.");
    report.table(slowReaders.table("way", "", List.of(MEMORY, EACH)));
    report.heading("Mixed paths: memory at equal goodput");
    report.table(mixed.table("way", "", mixedColumns()));
    report.paragraph(
        "Jain's index is over what clients got in parts of the mean of their kind: 1 if clients on"
            + " equal paths get equal goodput.");
    report.heading("Users of the web (Fig. 8)");
    report.paragraph(
        "Each user draws pages, lengths and pauses as SURGE says (Barford and Crovella, 1998), with"
            + " seeds of their own that are the same for each way. Round trip 20 ms, 100 Mbit/s for"
            + " 200 users.");
    report.table(users.wholeTable("way", "users", USERS));
  }

  private static List<Column> mixedColumns() {
    String off = Way.OFF.label;
    var columns =
        new ArrayList<>(
            List.of(
                MEMORY,
                Column.median("Mbit/s", TunedRun.GOODPUT.times(MEGABIT), 0),
                Column.ratio("memory ×", TunedRun.MEMORY, off),
                Column.ratio("goodput ×", TunedRun.GOODPUT, off),
                Column.median("Jain's index", TunedRun.FAIRNESS, 2),
                Column.median("late ms", TunedRun.LATE.times(1e-3), 1)));
    for (String kind : List.of("DSL", "LTE", "lossy", "long", "LAN", "8 KiB/s")) {
      columns.add(Column.median(kind + " Mbit/s", TunedRun.goodput(kind).times(MEGABIT), 1));
    }
    return columns;
  }
}
