package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.load.SurgeClients;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Users of the web over paths, by way: what the paper leaves to future work. */
final class WebUsers {

  private static final String PATH = "delay=10ms rate=100mbit";
  private static final int USERS_OF_LINK = 200;
  private static final int CONNECTIONS = 2000;
  private static final long SEED = 8;

  private static final Figure RESPONSES = Figure.of("responses");
  private static final Figure MILLIS = Figure.of("millis");
  private static final Figure CPU = Figure.of("cpu");
  private static final List<Column> COLUMNS =
      List.of(
          Column.median("responses/s", RESPONSES, 1),
          Column.median("ms for each", MILLIS, 0),
          Column.ratio("ms ×", MILLIS, BufferWay.OFF.label),
          Column.median("memory, KiB", TunedRun.MEMORY.times(1.0 / 1024), 0),
          Column.median("CPU, start included", CPU, 2));

  private final Experiment lab;
  private final Samples all = new Samples("users", "way");

  WebUsers(Experiment lab) {
    this.lab = lab;
  }

  void measure(TunedRun runs, List<Integer> counts) throws IOException, InterruptedException {
    for (int count : counts) {
      for (BufferWay way : BufferWay.OURS) {
        lab.step("users of the web: %d, %s", count, way.label);
        lab.keep("users.csv", all, browse(runs, way, count));
      }
    }
  }

  private static Sample browse(TunedRun runs, BufferWay way, int count)
      throws IOException, InterruptedException {
    var links = new ArrayList<LinkSettings>();
    var locals = new ArrayList<String>();
    for (int user = 0; user < count; user++) {
      if (user % USERS_OF_LINK == 0) {
        links.add(LinkSettings.symmetric("users" + links.size(), PATH));
      }
      locals.add(Namespaces.address(links.size(), user % USERS_OF_LINK + 1));
    }
    Namespaces spaces = runs.spaces();
    var kamille = Kamille.of(Checkout.find()).with(way.settings(TunedRun.PAPER_BUDGET));
    try (var server = WanServer.start(runs.bench(), spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED));
        SendMemory memory = server.watchMemory(runs.settling())) {
      long droppedBefore = spaces.droppedByDevices();
      SurgeClients.Outcome outcome =
          spaces.callAtClient(
              () ->
                  SurgeClients.run(
                      WanServer.address(),
                      WanServer.authority(),
                      locals,
                      true,
                      SEED,
                      1,
                      runs.settling(),
                      runs.counted()));
      double micros = runs.settling().plus(runs.counted()).toNanos() / 1e3;
      var sample =
          Sample.of(Integer.toString(count), way.label, 1)
              .with(RESPONSES, (double) outcome.responses() / runs.counted().toSeconds())
              .with(TunedRun.MEMORY, memory.meanBytes())
              .with(MILLIS, outcome.meanNanos() / 1e6)
              .with(CPU, server.cpuTime().micros() / micros);
      return TunedRun.withPath(sample, wan.stats(), spaces.droppedByDevices() - droppedBefore);
    }
  }

  private Samples undisturbed() {
    return all.where(one -> !one.is(TunedRun.DISTURBED));
  }

  List<Finding> findings() {
    String claim = "future work: E-ATBT on a web server makes documents come sooner";
    List<String> counts = undisturbed().situations();
    if (counts.isEmpty()) {
      return List.of(Finding.untested(claim, "runs were disturbed"));
    }
    String most = counts.getLast();
    boolean isBound =
        undisturbed().spread(TunedRun.MEMORY, most, BufferWay.OFF.label).stream()
            .anyMatch(all -> all.median() > TunedRun.PAPER_BUDGET);
    if (!isBound) {
      return List.of(
          Finding.untested(claim, "the budget did not bind: the kernel alone holds less"));
    }
    return List.of(
        undisturbed()
            .ratio(MILLIS, most, BufferWay.OFF.label, BufferWay.EQUATION.label)
            .map(
                times ->
                    Finding.atLeast(
                        claim,
                        times.median(),
                        1.1,
                        1.02,
                        most + " users: time of the kernel alone ÷ E-ATBT's " + times.text(2)))
            .orElse(Finding.untested(claim, "runs were disturbed")));
  }

  void report(Report report) {
    report.heading("Users of the web, by way");
    report.paragraph(
        "Each user draws pages, lengths and pauses as SURGE says, with seeds of their own that are"
            + " the same for each way. Round trip 20 ms, 100 Mbit/s for 200 users. The budget is"
            + " 512 KiB; persistent connections.");
    report.table(undisturbed().wholeTable("way", "users", COLUMNS));
  }
}
