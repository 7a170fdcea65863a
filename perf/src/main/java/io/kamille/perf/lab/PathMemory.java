package io.kamille.perf.lab;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Which way holds least memory: for clients that hardly read, and at equal goodput. */
final class PathMemory {

  private static final long BUDGET = 256L << 20;
  private static final String READERS = "delay=10ms rate=100mbit";
  private static final int SLOW_READER = 8 << 10;
  private static final int CLIENTS_OF_LINK = 100;
  private static final double MEGABIT = 8e-6;
  private static final double MIB = 1 << 20;

  private static final Column MEMORY =
      Column.median("send memory, MiB", TunedRun.MEMORY.times(1 / MIB), 1);
  private static final Column EACH =
      Column.median("KiB for each", TunedRun.MEMORY.per(TunedRun.CLIENTS).times(1.0 / 1024), 0);

  private final Experiment lab;
  private final Samples slowReaders = new Samples("", "way");
  private final Samples mixed = new Samples("", "way");

  PathMemory(Experiment lab) {
    this.lab = lab;
  }

  void measure(TunedRun runs, int readers, int clients) throws IOException, InterruptedException {
    for (BufferWay way : BufferWay.OURS) {
      slowReaders(runs, way, readers / 2);
      mixedPaths(runs, way, clients / 5);
    }
  }

  /** Clients that read 8 KiB/s, or nothing. */
  private void slowReaders(TunedRun runs, BufferWay way, int half)
      throws IOException, InterruptedException {
    lab.step("clients that hardly read, %s", way.label);
    var clients =
        new Crowd()
            .with("8 KiB/s", READERS, half / each(half), each(half), SLOW_READER)
            .with("nothing", READERS, half / each(half), each(half), 0);
    var sample = Sample.of("", way.label, 1);
    lab.keep("slow-readers.csv", slowReaders, runs.measure(sample, way, BUDGET, clients));
  }

  private void mixedPaths(TunedRun runs, BufferWay way, int part)
      throws IOException, InterruptedException {
    lab.step("mixed paths, %s", way.label);
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
    lab.keep("mixed.csv", mixed, runs.measure(sample, way, BUDGET, clients));
  }

  /** Clients behind one link. */
  private static int each(int clients) {
    return Math.min(clients, CLIENTS_OF_LINK);
  }

  void report(Report report) {
    report.heading("Clients that hardly read");
    report.paragraph("Half of them read 8 KiB/s of 4 MiB, half stop reading at once.");
    report.table(undisturbed(slowReaders).table("way", "", List.of(MEMORY, EACH)));
    report.heading("Mixed paths: memory at equal goodput");
    report.table(undisturbed(mixed).table("way", "", mixedColumns()));
    report.paragraph(
        "Jain's index is over what clients got in parts of the mean of their kind: 1 if clients on"
            + " equal paths get equal goodput. A way without a row was disturbed.");
  }

  private static Samples undisturbed(Samples samples) {
    return samples.where(one -> !one.is(TunedRun.DISTURBED));
  }

  private static List<Column> mixedColumns() {
    String off = BufferWay.OFF.label;
    var columns =
        new ArrayList<>(
            List.of(
                MEMORY,
                Column.median("Mbit/s", TunedRun.GOODPUT.times(MEGABIT), 0),
                Column.ratio("memory ×", TunedRun.MEMORY, off),
                Column.ratio("goodput ×", TunedRun.GOODPUT, off),
                Column.median("Jain's index", TunedRun.FAIRNESS, 2)));
    for (String kind : List.of("DSL", "LTE", "lossy", "long", "LAN", "8 KiB/s")) {
      columns.add(Column.median(kind + " Mbit/s", TunedRun.goodput(kind).times(MEGABIT), 1));
    }
    return columns;
  }
}
