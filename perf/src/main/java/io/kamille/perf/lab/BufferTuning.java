package io.kamille.perf.lab;

import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Table;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** P4: who gets how much send buffer, and what that does to goodput and to memory. */
final class BufferTuning implements Experiment {

  /*
   * Every way is a process of its own that serves the same object to the same crowd, over an emulator
   * of equal seed. Memory is what the kernel has queued for the server's connections (ss), not
   * sockstat: that counts what receivers have not read, too, and these are on the same machine.
   */

  /** How long and how much, by scale. */
  private record Extent(
      List<Integer> slow,
      int mixed,
      List<TunedWay> mixedWays,
      Duration settling,
      Duration counted) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                List.of(0, 200),
                400,
                List.of(TunedWay.OFF, TunedWay.KERNEL, TunedWay.EQUATION),
                Duration.ofSeconds(5),
                Duration.ofSeconds(6));
        case NORMAL ->
            new Extent(
                List.of(0, 50, 200),
                2000,
                List.of(TunedWay.values()),
                Duration.ofSeconds(10),
                Duration.ofSeconds(15));
        case FULL ->
            new Extent(
                List.of(0, 10, 25, 50, 100, 150, 200),
                2000,
                List.of(TunedWay.values()),
                Duration.ofSeconds(20),
                Duration.ofSeconds(60));
      };
    }
  }

  private static final String PAPER_BUDGET = "512KiB";
  private static final String BUDGET = "256MiB";
  private static final String CONGESTION_CONTROL = "cubic";
  private static final String FAST = "delay=1500us loss=0.1% rate=1000mbit queue=1000k";
  private static final String SLOW = "delay=1500us rate=100mbit queue=100k";
  private static final int SLOW_LINKS = 1;
  private static final int SLOW_READER = 8 << 10;
  private static final double MEGABIT = 8e-6;
  private static final double KIB = 1024;
  private static final double MIB = 1 << 20;
  private static final int CLIENTS_OF_LINK = 200;

  private final Extent extent;
  private final Map<TunedWay, Map<Integer, TunedRun>> beside = new EnumMap<>(TunedWay.class);
  private final Map<TunedWay, TunedRun> mixed = new EnumMap<>(TunedWay.class);
  private final Map<TunedWay, TunedRun> slowReaders = new EnumMap<>(TunedWay.class);
  private final Map<TunedWay, AllocationTrace> traces = new EnumMap<>(TunedWay.class);
  private TunedCrowd crowd = new TunedCrowd();

  BufferTuning(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  @Override
  public String name() {
    return "p4";
  }

  @Override
  public String title() {
    return "send buffers: policy × paths";
  }

  @Override
  public String question() {
    return "Terai, Okamoto, Hasegawa and Murata (2001) give each connection the send buffer that"
        + " its estimated throughput needs, out of one budget, and found a fast connection"
        + " to keep its throughput beside many slow ones where an equal split starves it."
        + " Does that hold beside today's rival, the kernel's own tuning, with and without a"
        + " bound on what was never sent? And which way holds least memory at equal"
        + " goodput?";
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
        extent.counted().toSeconds(),
        extent.settling().toSeconds());
  }

  @Override
  public int steps() {
    return TunedWay.values().length * extent.slow().size() + 2 * extent.mixedWays().size() + 2;
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      overTime(run, bench, spaces);
      besideSlowOnes(run, bench, spaces);
      slowReaders(run, bench, spaces);
      mixedPaths(run, bench, spaces);
    }
  }

  /** The paper's Fig. 6. */
  private void overTime(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    for (TunedWay way : List.of(TunedWay.WINDOW, TunedWay.EQUATION)) {
      run.step("allocation over time, " + way.label());
      var four =
          new TunedCrowd()
              .with("slow", "delay=20ms loss=1% rate=10mbit queue=60k", 1, 1, Fetcher.UNLIMITED)
              .with(
                  "fast", "delay=1500us loss=0.1% rate=100mbit queue=100k", 1, 2, Fetcher.UNLIMITED)
              .later("fast", 3, extent.settling().dividedBy(2));
      var trace = new AllocationTrace();
      TunedRun.of(
          bench,
          spaces,
          way.settings(PAPER_BUDGET),
          four,
          extent.settling(),
          extent.counted().multipliedBy(2),
          trace::follow);
      traces.put(way, trace);
    }
  }

  /** The paper's Fig. 7. */
  private void besideSlowOnes(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    for (TunedWay way : TunedWay.values()) {
      for (int slow : extent.slow()) {
        run.step("one fast connection beside " + slow + " slow ones, " + way.label());
        var clients = new TunedCrowd().with("fast", FAST, 1, 1, Fetcher.UNLIMITED);
        if (slow > 0) {
          clients.with("slow", SLOW, SLOW_LINKS, slow, Fetcher.UNLIMITED);
        }
        TunedRun result = run(bench, spaces, way.settings(PAPER_BUDGET), clients);
        beside.computeIfAbsent(way, _ -> new TreeMap<>()).put(slow, result);
        keep(run, "beside.csv", way, slow + "", result);
      }
    }
  }

  /** Clients that read 8 KiB/s, or nothing. */
  private void slowReaders(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    int half = extent.mixed() / 2;
    for (TunedWay way : extent.mixedWays()) {
      run.step("clients that hardly read, " + way.label());
      var clients =
          new TunedCrowd()
              .with("8 KiB/s", "delay=10ms rate=100mbit", links(half), each(half), SLOW_READER)
              .with("nothing", "delay=10ms rate=100mbit", links(half), each(half), 0);
      TunedRun result = run(bench, spaces, way.settings(BUDGET), clients);
      slowReaders.put(way, result);
      keep(run, "slow-readers.csv", way, clients.fetchers().size() + "", result);
    }
  }

  private void mixedPaths(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    int part = extent.mixed() / 5;
    for (TunedWay way : extent.mixedWays()) {
      run.step("mixed paths, " + way.label());
      crowd =
          new TunedCrowd()
              .with("DSL", "delay=15ms rate=4mbit queue=60k", part / 10, 10, Fetcher.UNLIMITED)
              .with(
                  "LTE",
                  "delay=30ms jitter=5ms rate=6mbit queue=200k",
                  part / 10,
                  10,
                  Fetcher.UNLIMITED)
              .with("lossy", "delay=50ms loss=3%", links(part), each(part), Fetcher.UNLIMITED)
              .with("long", "delay=125ms loss=1%", links(part), each(part), Fetcher.UNLIMITED)
              .with("LAN", "delay=500us rate=60mbit queue=100k", 1, 5, Fetcher.UNLIMITED)
              .with("8 KiB/s", "delay=10ms rate=100mbit", links(part), each(part), SLOW_READER);
      TunedRun result = run(bench, spaces, way.settings(BUDGET), crowd);
      mixed.put(way, result);
      keep(run, "mixed.csv", way, crowd.fetchers().size() + "", result);
    }
  }

  private static int links(int clients) {
    return Math.max(1, clients / CLIENTS_OF_LINK);
  }

  private static int each(int clients) {
    return Math.min(clients, CLIENTS_OF_LINK);
  }

  private TunedRun run(Workbench bench, Namespaces spaces, String settings, TunedCrowd clients)
      throws IOException, InterruptedException {
    return TunedRun.of(
        bench, spaces, settings, clients, extent.settling(), extent.counted(), _ -> {});
  }

  private static void keep(LabRun run, String file, TunedWay way, String clients, TunedRun result)
      throws IOException {
    run.keep(
        file,
        "way,clients,goodput_bytes,fast_bytes,send_memory_bytes,cpu,late_micros",
        String.format(
            Locale.ROOT,
            "%s,%s,%.0f,%.0f,%.0f,%.3f,%.0f",
            way,
            clients,
            result.goodputInAll(),
            result.goodput()[0],
            result.sendMemory(),
            result.cpuSeconds(),
            result.lateMicros()));
  }

  @Override
  public void report(Report report) {
    report.heading("The paper's figures");
    report.items(
        List.of(
            "Fig. 6: with ATBT allocations swing with the congestion window; with E-ATBT they are"
                + " steady",
            "Fig. 7: with an equal split of 512 KB the Gigabit connection (round trip 3 ms, loss"
                + " 0.1 %) starves as Ethernet connections become more; with ATBT it keeps its"
                + " throughput, with E-ATBT more of it"));
    reportTraces(report);
    reportBeside(report);
    reportReaders(report);
    reportMixed(report);
  }

  private void reportTraces(Report report) {
    if (traces.isEmpty()) {
      return;
    }
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

  private void reportBeside(Report report) {
    if (beside.isEmpty()) {
      return;
    }
    report.heading("One fast connection beside slow ones (Fig. 7)");
    report.paragraph(
        "The fast connection: 1 Gbit/s, round trip 3 ms, loss 0.1 %. The slow ones share 100 Mbit/s"
            + " at 3 ms. Budget 512 KiB; it binds in the last three ways.");
    var titles = new ArrayList<>(List.of("Mbit/s of the fast one"));
    extent.slow().forEach(slow -> titles.add(slow + " slow"));
    titles.add("kept");
    titles.add("KiB for each, at most slow");
    var table = new Table(titles.toArray(String[]::new));
    TunedRun off = beside.getOrDefault(TunedWay.OFF, Map.of()).get(0);
    double alone = off == null ? 0 : off.goodput()[0];
    beside.forEach((way, runs) -> besideRow(table, way, runs, alone));
    report.table(table);
    report.paragraph("Kept is in parts of what the fast one has alone with the kernel alone.");
    if (extent.slow().size() > 2) {
      report.plot("beside", besideChart());
    }
  }

  private void besideRow(Table table, TunedWay way, Map<Integer, TunedRun> runs, double alone) {
    var row = new ArrayList<>(List.of(way.label()));
    for (int slow : extent.slow()) {
      TunedRun run = runs.get(slow);
      row.add(run == null ? "–" : String.format(Locale.ROOT, "%.0f", run.goodput()[0] * MEGABIT));
    }
    TunedRun last = runs.get(extent.slow().getLast());
    row.add(
        last == null || alone == 0
            ? "–"
            : String.format(Locale.ROOT, "%.2f", last.goodput()[0] / alone));
    row.add(
        last == null
            ? "–"
            : String.format(
                Locale.ROOT, "%.0f", last.sendMemory() / KIB / (1 + extent.slow().getLast())));
    table.row(row);
  }

  private String besideChart() {
    var chart =
        new LineChart(
            "goodput of the fast connection",
            new Axis("slow connections", 0, extent.slow().getLast()),
            new Axis("Mbit/s", 0, 200));
    beside.forEach(
        (way, runs) ->
            chart.line(
                way.label(),
                runs.entrySet().stream()
                    .map(run -> new Point(run.getKey(), run.getValue().goodput()[0] * MEGABIT))
                    .toList()));
    return chart.svg();
  }

  private void reportReaders(Report report) {
    if (slowReaders.isEmpty()) {
      return;
    }
    report.heading("Clients that hardly read");
    report.paragraph("Half of them read 8 KiB/s of 4 MiB, half stop reading at once.");
    var table = new Table(extent.mixed() + " clients", "send memory, MiB", "KiB for each");
    slowReaders.forEach(
        (way, run) ->
            table.row(
                List.of(
                    way.label(),
                    String.format(Locale.ROOT, "%.1f", run.sendMemory() / MIB),
                    String.format(Locale.ROOT, "%.0f", run.sendMemory() / KIB / extent.mixed()))));
    report.table(table);
  }

  private void reportMixed(Report report) {
    if (mixed.isEmpty()) {
      return;
    }
    report.heading("Mixed paths: memory at equal goodput");
    var titles = new ArrayList<>(List.of(crowd.fetchers().size() + " clients"));
    titles.addAll(
        List.of("send memory, MiB", "Mbit/s", "memory ×", "goodput ×", "server CPU", "late ms"));
    var table = new Table(titles.toArray(String[]::new));
    TunedRun kernel = mixed.get(TunedWay.OFF);
    mixed.forEach(
        (way, run) ->
            table.row(
                List.of(
                    way.label(),
                    String.format(Locale.ROOT, "%.1f", run.sendMemory() / MIB),
                    String.format(Locale.ROOT, "%.0f", run.goodputInAll() * MEGABIT),
                    ratio(run.sendMemory(), kernel == null ? 0 : kernel.sendMemory()),
                    ratio(run.goodputInAll(), kernel == null ? 0 : kernel.goodputInAll()),
                    String.format(Locale.ROOT, "%.2f", run.cpuSeconds()),
                    String.format(Locale.ROOT, "%.1f", run.lateMicros() / 1e3))));
    report.table(table);
    var byKind = new ArrayList<>(List.of("Mbit/s by kind"));
    byKind.addAll(crowd.kinds());
    var kinds = new Table(byKind.toArray(String[]::new));
    mixed.forEach(
        (way, run) -> {
          var row = new ArrayList<>(List.of(way.label()));
          for (double goodput : run.goodput()) {
            row.add(String.format(Locale.ROOT, "%.1f", goodput * MEGABIT));
          }
          kinds.row(row);
        });
    report.table(kinds);
  }

  private static String ratio(double value, double of) {
    return of == 0 ? "–" : String.format(Locale.ROOT, "%.2f", value / of);
  }
}
