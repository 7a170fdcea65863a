package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.SurgeClients;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The paper's Fig. 8: users of the web, by HTTP/1.0 and over persistent connections. */
final class SurgeRuns {

  private static final Figure RESPONSES = Figure.of("responses");
  private static final Figure CPU = Figure.of("cpu");
  private static final Figure MILLIS = Figure.of("millis");
  private static final Figure LATE = Figure.of("late_micros");
  private static final String PATH = "delay=10ms rate=100mbit";
  private static final String BUDGET = "32MiB";
  private static final int USERS_OF_LINK = 200;
  private static final int CONNECTIONS = 2000;
  private static final long SEED = 8;

  private final List<TunedWay> ways;
  private final List<Integer> users;
  private final Duration settling;
  private final Duration counted;
  private final Samples samples = new Samples("users", "way");

  SurgeRuns(List<TunedWay> ways, List<Integer> users, Duration settling, Duration counted) {
    this.ways = ways;
    this.users = users;
    this.settling = settling;
    this.counted = counted;
  }

  int steps() {
    return 2 * users.size() * ways.size();
  }

  void measure(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    for (boolean isPersistent : new boolean[] {false, true}) {
      for (int count : users) {
        for (TunedWay way : ways) {
          String situation = count + (isPersistent ? ", persistent" : ", HTTP/1.0");
          run.step("users " + situation + ", " + way.label());
          run.keep(
              "surge.csv",
              samples,
              measure(
                  bench, spaces, way, count, isPersistent, Sample.of(situation, way.label(), 1)));
        }
      }
    }
  }

  private Sample measure(
      Workbench bench,
      Namespaces spaces,
      TunedWay way,
      int count,
      boolean isPersistent,
      Sample sample)
      throws IOException, InterruptedException {
    var links = new ArrayList<LinkSettings>();
    for (int placed = 0; placed < count; placed += USERS_OF_LINK) {
      links.add(LinkSettings.symmetric("users" + links.size(), PATH));
    }
    var kamille = new Kamille(Checkout.find()).with(way.settings(BUDGET));
    try (var server =
            WanServer.start(bench, spaces, kamille, new Opponents(List.of()), CONNECTIONS);
        var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      SurgeClients.Outcome outcome = spaces.callAtClient(() -> browse(count, isPersistent));
      double seconds = settling.plus(counted).toMillis() / 1e3;
      return sample
          .with(
              CPU,
              (server.cpuTime().userMicros() + server.cpuTime().kernelMicros()) / 1e6 / seconds)
          .with(RESPONSES, outcome.responses() / (double) counted.toSeconds())
          .with(MILLIS, outcome.meanNanos() / 1e6)
          .with(LATE, wan.stats().latenessP99Nanos() / 1e3);
    }
  }

  private SurgeClients.Outcome browse(int count, boolean isPersistent) throws IOException {
    List<String> locals =
        IntStream.range(0, count)
            .mapToObj(
                user -> Namespaces.address(user / USERS_OF_LINK + 1, user % USERS_OF_LINK + 1))
            .toList();
    return SurgeClients.run(
        WanServer.address(), WanServer.authority(), locals, isPersistent, SEED, settling, counted);
  }

  void report(Report report) {
    report.heading("Users of the web (Fig. 8)");
    report.paragraph(
        "Each user draws pages, lengths and pauses as SURGE says (Barford and Crovella, 1998), with"
            + " seeds of their own that are the same for each way. Round trip 20 ms, 100 Mbit/s for"
            + " 200 users.");
    report.table(
        samples.wholeTable(
            "way",
            "users",
            List.of(
                Column.median("responses/s", RESPONSES, 1),
                Column.median("ms for each", MILLIS, 0),
                Column.median("CPU, start included", CPU, 2),
                Column.median("late ms", LATE.times(1e-3), 1))));
  }
}
