package io.kamille.perf.lab;

import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Table;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** P4: who gets how much send buffer, and what that does to goodput and to memory. */
final class BufferTuning implements Experiment {

  /*
   * Every way is a process of its own that serves the same object to the same crowd, over an
   * emulator of equal seed. Memory is what the kernel has queued for the server's connections (ss),
   * not sockstat: that counts what receivers have not read, too, and these are on the same machine.
   */

  /** How long and how much, by scale. */
  private record Extent(
      List<Integer> slow,
      int readers,
      int mixed,
      List<TunedWay> ways,
      int settling,
      int counted,
      RegionOrCopy region,
      SurgeRuns surge) {

    private static Extent of(LabScale scale) {
      List<TunedWay> all = List.of(TunedWay.values());
      List<TunedWay> two = List.of(TunedWay.OFF, TunedWay.KERNEL);
      List<TunedWay> three = List.of(TunedWay.OFF, TunedWay.KERNEL, TunedWay.EQUATION);
      return switch (scale) {
        case QUICK ->
            new Extent(
                List.of(0, 200),
                200,
                400,
                two,
                4,
                3,
                region(List.of(64, 512, 4096), List.of(10), 1),
                new SurgeRuns(two, List.of(60), Duration.ofSeconds(2), Duration.ofSeconds(3)));
        case NORMAL ->
            new Extent(
                List.of(0, 50, 200),
                1000,
                2000,
                all,
                12,
                12,
                region(List.of(32, 64, 256, 1024, 4096), List.of(1, 10, 60), 3),
                surge(three, 5, 20));
        case FULL ->
            new Extent(
                List.of(0, 10, 25, 50, 100, 150, 200),
                1000,
                2000,
                all,
                20,
                60,
                region(List.of(32, 64, 128, 256, 1024, 4096), List.of(1, 10, 60, 600), 10),
                surge(all, 60, 1800));
      };
    }

    private static RegionOrCopy region(
        List<Integer> kibibytes, List<Integer> clients, int counted) {
      return new RegionOrCopy(
          kibibytes.stream().map(size -> size << 10).toList(),
          clients,
          Duration.ofSeconds(counted));
    }

    private static SurgeRuns surge(List<TunedWay> ways, int settling, int counted) {
      return new SurgeRuns(
          ways, List.of(10, 60, 600), Duration.ofSeconds(settling), Duration.ofSeconds(counted));
    }
  }

  static final Paper PAPER =
      new Paper(
          "p4",
          "send buffers: policy × paths, memory at equal goodput (as root)",
          "Terai, Okamoto, Hasegawa and Murata (2001) give each connection the send buffer that"
              + " its estimated throughput needs, out of one budget, and found a fast connection"
              + " to keep its throughput beside many slow ones where an equal split starves it."
              + " Does that hold beside today's rival, the kernel's own tuning, with and without a"
              + " bound on what was never sent? And which way holds least memory at equal"
              + " goodput?",
          List.of(
              "Fig. 4: on a path of 622 Mbit/s, file data straight into the socket buffer moves up"
                  + " to 30 % faster",
              "Fig. 6: with ATBT allocations swing with the congestion window; with E-ATBT they are"
                  + " steady",
              "Fig. 7: with an equal split of 512 KB the Gigabit connection (round trip 3 ms, loss"
                  + " 0.1 %) starves as Ethernet connections become more; with ATBT it keeps its"
                  + " throughput, with E-ATBT more of it",
              "Fig. 8: under a web workload the gain grows with the number of clients, and shows"
                  + " with persistent connections only"));

  private static final String PAPER_BUDGET = "512KiB";
  private static final String BUDGET = "256MiB";
  private static final String CONGESTION_CONTROL = "cubic";
  private static final String FAST = "delay=1500us loss=0.1% rate=1000mbit queue=1000k";
  private static final String SLOW = "delay=1500us rate=100mbit queue=100k";
  private static final String READERS = "delay=10ms rate=100mbit";
  private static final int SLOW_READER = 8 << 10;
  private static final double MEGABIT = 8e-6;
  private static final double KIB = 1024;
  private static final int CLIENTS_OF_LINK = 100;

  /** Of the one fast connection. */
  private static final Figure FAST_GOODPUT = TunedRun.goodput("fast");

  private static final Column MEMORY =
      Column.median("send memory, MiB", TunedRun.MEMORY.times(1 / KIB / KIB), 1);
  private static final Column EACH =
      Column.median("KiB for each", TunedRun.MEMORY.per(TunedRun.CLIENTS).times(1 / KIB), 0);
  private static final List<Column> BESIDE =
      List.of(
          Column.median("Mbit/s of the fast one", FAST_GOODPUT.times(MEGABIT), 0),
          new Column("of alone", BufferTuning::ofAlone),
          EACH);
  private static final List<Column> MIXED =
      List.of(
          MEMORY,
          Column.median("Mbit/s", TunedRun.GOODPUT.times(MEGABIT), 0),
          Column.ratio("memory ×", TunedRun.MEMORY, TunedWay.OFF.label()),
          Column.ratio("goodput ×", TunedRun.GOODPUT, TunedWay.OFF.label()),
          Column.median("Jain's index", TunedRun.FAIRNESS, 2),
          Column.median("server CPU", TunedRun.CPU, 2),
          Column.median("late ms", TunedRun.LATE.times(1e-3), 1));

  private final Extent extent;
  private final Samples beside = new Samples("slow", "way");
  private final Samples slowReaders = new Samples("", "way");
  private final Samples mixed = new Samples("", "way");
  private final Map<TunedWay, AllocationTrace> traces = new EnumMap<>(TunedWay.class);

  BufferTuning(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  /** In parts of what the fast one has alone, the same way. */
  private static String ofAlone(Column.Rounds all) {
    Sample first = all.rounds().getFirst();
    return all.samples()
        .spread(FAST_GOODPUT, "0", first.server())
        .map(spread -> spread.median())
        .filter(alone -> alone > 0)
        .map(alone -> String.format(Locale.ROOT, "%.2f", first.of(FAST_GOODPUT) / alone))
        .orElse("–");
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "Kamille has one loop and core 0 for itself, in a network namespace of its own; clients are"
            + " in another, and a program of ours on core 1 carries the packets between them."
            + " Congestion control: %s. Each client fetches one stored object of 4 MiB again and"
            + " again. Goodput is counted over %d s after %d s of settling. Memory is what the"
            + " kernel has queued to send for the server's connections (ss), looked at twice a"
            + " second in the part that counts. Stored responses are sent out of the store, so"
            + " nothing else waits in memory of its own.",
        CONGESTION_CONTROL,
        extent.counted(),
        extent.settling());
  }

  @Override
  public int steps() {
    return extent.slow().size() * TunedWay.values().length
        + 2 * extent.ways().size()
        + 2
        + extent.region().steps()
        + extent.surge().steps();
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var runs =
          new TunedRun(
              bench,
              spaces,
              Duration.ofSeconds(extent.settling()),
              Duration.ofSeconds(extent.counted()));
      extent.region().measure(run, bench, spaces);
      overTime(run, runs);
      besideSlowOnes(run, runs);
      slowReaders(run, runs);
      mixedPaths(run, runs);
      extent.surge().measure(run, bench, spaces);
    }
  }

  /** The paper's Fig. 6. */
  private void overTime(LabRun run, TunedRun runs) throws IOException, InterruptedException {
    for (TunedWay way : List.of(TunedWay.EQUATION)) {
      run.step("allocation over time, " + way.label());
      var four =
          new TunedCrowd()
              .with("slow", "delay=20ms loss=1% rate=10mbit queue=60k", 1, 1, Fetcher.UNLIMITED)
              .with(
                  "fast", "delay=1500us loss=0.1% rate=100mbit queue=100k", 1, 2, Fetcher.UNLIMITED)
              .later("later", 3, runs.settling().dividedBy(2));
      var trace = new AllocationTrace();
      runs.measure(
          Sample.of("", way.label(), 1),
          way.settings(PAPER_BUDGET),
          four,
          runs.counted().multipliedBy(2),
          trace::follow);
      traces.put(way, trace);
    }
  }

  /** The paper's Fig. 7. */
  private void besideSlowOnes(LabRun run, TunedRun runs) throws IOException, InterruptedException {
    for (TunedWay way : TunedWay.values()) {
      for (int slow : extent.slow()) {
        run.step("one fast connection beside " + slow + " slow ones, " + way.label());
        var clients =
            new TunedCrowd()
                .with("fast", FAST, 1, 1, Fetcher.UNLIMITED)
                .with("slow", SLOW, Math.min(1, slow), slow, Fetcher.UNLIMITED);
        var sample = Sample.of(Integer.toString(slow), way.label(), 1);
        run.keep("beside.csv", beside, runs.measure(sample, way.settings(PAPER_BUDGET), clients));
      }
    }
  }

  /** Clients that read 8 KiB/s, or nothing. */
  private void slowReaders(LabRun run, TunedRun runs) throws IOException, InterruptedException {
    int half = extent.readers() / 2;
    for (TunedWay way : extent.ways()) {
      run.step("clients that hardly read, " + way.label());
      var clients =
          new TunedCrowd()
              .with("8 KiB/s", READERS, half / each(half), each(half), SLOW_READER)
              .with("nothing", READERS, half / each(half), each(half), 0);
      var sample = Sample.of("", way.label(), 1);
      run.keep(
          "slow-readers.csv", slowReaders, runs.measure(sample, way.settings(BUDGET), clients));
    }
  }

  private void mixedPaths(LabRun run, TunedRun runs) throws IOException, InterruptedException {
    int part = extent.mixed() / 5;
    String lte = "delay=30ms jitter=5ms rate=3mbit queue=100k";
    for (TunedWay way : extent.ways()) {
      run.step("mixed paths, " + way.label());
      var clients =
          new TunedCrowd()
              .with("DSL", "delay=15ms rate=2mbit queue=40k", part / 10, 10, Fetcher.UNLIMITED)
              .with("LTE", lte, part / 10, 10, Fetcher.UNLIMITED)
              .with("lossy", "delay=50ms loss=5%", part / each(part), each(part), Fetcher.UNLIMITED)
              .with("long", "delay=125ms loss=2%", part / each(part), each(part), Fetcher.UNLIMITED)
              .with("LAN", "delay=500us rate=60mbit queue=100k", 1, 5, Fetcher.UNLIMITED)
              .with("8 KiB/s", READERS, part / each(part), each(part), SLOW_READER);
      var sample = Sample.of("", way.label(), 1);
      run.keep("mixed.csv", mixed, runs.measure(sample, way.settings(BUDGET), clients));
    }
  }

  /** Clients behind one link. */
  private static int each(int clients) {
    return Math.min(clients, CLIENTS_OF_LINK);
  }

  @Override
  public void report(Report report) {
    extent.region().report(report);
    reportTraces(report);
    report.heading("One fast connection beside slow ones (Fig. 7)");
    report.paragraph(
        "The fast connection: 1 Gbit/s, round trip 3 ms, loss 0.1 %. The slow ones share 100 Mbit/s"
            + " at 3 ms. Budget 512 KiB; it binds in the last three ways.");
    report.table(beside.wholeTable("way", "slow ones", BESIDE));
    report.paragraph("Of alone: in parts of what the fast one has with 0 slow ones, the same way.");
    if (extent.slow().size() > 2) {
      report.plot(
          "beside",
          beside.chart(
              "goodput of the fast connection",
              "slow connections",
              "Mbit/s",
              FAST_GOODPUT.times(MEGABIT)));
    }
    report.heading("Clients that hardly read");
    report.paragraph("Half of them read 8 KiB/s of 4 MiB, half stop reading at once.");
    report.table(slowReaders.table(extent.readers() + " clients", "", List.of(MEMORY, EACH)));
    report.heading("Mixed paths: memory at equal goodput");
    var columns = new ArrayList<>(MIXED);
    for (String kind : List.of("DSL", "LTE", "lossy", "long", "LAN", "8 KiB/s")) {
      columns.add(Column.median(kind + " Mbit/s", TunedRun.goodput(kind).times(MEGABIT), 1));
    }
    report.table(mixed.table("way", "", columns));
    report.paragraph(
        "Jain's index is over what clients got in parts of the mean of their kind: 1 if clients on"
            + " equal paths get equal goodput.");
    extent.surge().report(report);
  }

  private void reportTraces(Report report) {
    report.heading("Allocation over time (Fig. 6)");
    var table = new Table("512 KiB for four connections", "variation of allocations, steady part");
    traces.forEach(
        (way, trace) -> {
          table.row(List.of(way.label(), String.format(Locale.ROOT, "%.2f", trace.variation())));
          report.plot(
              "allocation-" + way.name().toLowerCase(Locale.ROOT), trace.chart(way.label()));
        });
    report.table(table);
  }
}
