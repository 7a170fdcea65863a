package io.kamille.perf.lab;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Which way holds least memory: for clients that hardly read, and at equal goodput. And users of
 * the web, by way: what the paper leaves to future work.
 */
final class PathMemory {

  private static final long BUDGET = 256L << 20;
  private static final String FAST = "delay=10ms rate=100mbit";
  private static final String LTE = "delay=30ms jitter=5ms rate=3mbit queue=100k";
  private static final int SLOW_READER = 8 << 10;
  private static final double MEGABIT = 8e-6;
  private static final List<BufferWay> WAYS =
      List.of(BufferWay.OFF, BufferWay.EQUATION, BufferWay.KERNEL);

  private final PathStep readers;
  private final PathStep mixed;
  private final PathStep users;

  PathMemory(Experiment lab) {
    readers = new PathStep(lab, "slow-readers", "clients");
    mixed = new PathStep(lab, "mixed", "clients");
    users = new PathStep(lab, "users", "users");
  }

  void measure(TunedRun runs, int ways, int clients) throws IOException, InterruptedException {
    int half = clients / 2;
    int part = clients * 2 / 5;
    for (BufferWay way : WAYS.subList(0, ways)) {
      var hardly =
          new Crowd(TunedRun.OBJECT_BYTES)
              .with("8 KiB/s", FAST, half, 100, SLOW_READER)
              .with("nothing", FAST, half, 100, 0);
      readers.measure(runs, 1, clients, way, BUDGET, hardly);
      var all =
          new Crowd(TunedRun.OBJECT_BYTES)
              .with("DSL", "delay=15ms rate=2mbit queue=40k", part, 10, Fetcher.UNLIMITED)
              .with("LTE", LTE, part, 10, Fetcher.UNLIMITED)
              .with("lossy", "delay=50ms loss=5%", part, 100, Fetcher.UNLIMITED)
              .with("long", "delay=125ms loss=2%", part, 100, Fetcher.UNLIMITED)
              .with("LAN", "delay=500us rate=60mbit queue=100k", 5, 5, Fetcher.UNLIMITED)
              .with("8 KiB/s", FAST, part, 100, SLOW_READER);
      mixed.measure(runs, 1, 5 * part + 5, way, BUDGET, all);
      int count = Math.min(600, clients);
      users.measure(runs, 1, count, way, TunedRun.PAPER_BUDGET, WebUsers.overPaths(count));
    }
  }

  Finding finding() {
    String claim = "future work: with E-ATBT documents come sooner: time of the kernel ÷ E-ATBT's";
    Samples known = users.undisturbed();
    return users.judged(
        claim,
        at -> known.ratio(WebUsers.MILLIS, at, BufferWay.OFF.label, BufferWay.EQUATION.label),
        at -> users.isBound(at, TunedRun.PAPER_BUDGET, BufferWay.EQUATION),
        1.1,
        1.02);
  }

  void report(Report report) {
    String off = BufferWay.OFF.label;
    Column ratio = Column.ratio("memory ×", TunedRun.MEMORY, off);
    users.report(
        report,
        "Users of the web, by way",
        "Each user draws pages, lengths and pauses as SURGE says. Round trip 20 ms, 100 Mbit/s for"
            + " 200 users. The budget is 512 KiB; persistent connections.",
        List.of(
            Column.median("responses/s", WebUsers.RESPONSES, 1),
            Column.median("ms for each", WebUsers.MILLIS, 0),
            Column.ratio("ms ×", WebUsers.MILLIS, off),
            PathStep.MEMORY));
    readers.report(
        report,
        "Clients that hardly read",
        "Half of them read 8 KiB/s of 4 MiB, half stop reading at once.",
        List.of(PathStep.MEMORY, ratio));
    var columns =
        new ArrayList<>(
            List.of(
                PathStep.MEMORY,
                ratio,
                Column.median("Mbit/s", TunedRun.GOODPUT.times(MEGABIT), 0),
                Column.ratio("goodput ×", TunedRun.GOODPUT, off)));
    for (String kind : List.of("DSL", "LTE", "lossy", "long", "LAN", "8 KiB/s")) {
      columns.add(Column.median(kind + " Mbit/s", TunedRun.goodput(kind).times(MEGABIT), 1));
    }
    mixed.report(report, "Mixed paths: memory at equal goodput", "The budget is 256 MiB.", columns);
  }
}
