package io.kamille.perf.lab;

import io.kamille.perf.compare.SlowProcessor;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.lab.TunedRun.Load;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.load.TransferRates;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Fig. 4 and 8: what sendfile gains over copies, by object and under a web workload. */
final class SendfileGain {

  /*
   * Clients are in the server's own namespace, on the other core: what a path takes would hide what
   * a copy takes.
   *
   * The paper's clients ask 14 times a second each (25,000 requests in half an hour). SURGE's
   * pauses are divided so that ours do, if nothing else takes time. Under that load the server has
   * a slow processor, so that it is at its limit before the client is. It rejects no request: one
   * that is rejected has no transfer time. It is warm: code that is compiled during a run would
   * take more than copies do.
   *
   * As in the paper, nothing bounds unsent content. A connection that rests has a mark of some KiB;
   * the kernel takes no more than that by sendfile, but whole trains of what is copied.
   */
  private static final String COPIED = "copied";
  private static final String SENDFILE = "by sendfile";
  private static final String PERSISTENT = ", persistent";
  private static final String OLD = ", HTTP/1.0";
  private static final String FILE = "documents.csv";
  private static final String SETTINGS = "overload:\n  target: off\ntuning:\n  policy: off\n";
  private static final int CONNECTIONS = 2000;
  private static final int HASTE = 40;
  private static final int CLIENTS = 10;
  private static final double MIB = 1 << 20;

  /** Per cent of its core that the server has. */
  private static final int LEFT = 20;

  /** The server is loaded from here on, in parts of what it has of its core. */
  private static final double LOADED = 0.85;

  /** A client that has less is at its own limit. */
  private static final double LEAST_IDLE = 0.1;

  private static final Figure BYTES = TunedRun.GOODPUT;
  private static final Figure CPU = Figure.of("cpu_share");
  private static final Figure CPU_PER_MIB = CPU.per(BYTES).times(1e6 * MIB);
  private static final List<Column> OBJECTS =
      List.of(
          Column.spread("MiB/s", BYTES.times(1 / MIB), 0),
          Column.ratio("rate ×", BYTES, COPIED),
          Column.median("CPU µs/MiB", CPU_PER_MIB, 0),
          Column.ratio("CPU ×", CPU_PER_MIB, COPIED));

  /** Most documents that go by sendfile, and some of which none does. */
  private static final Figure LARGE = WebUsers.rate("to 1 MiB");

  private static final Figure COPIED_ALWAYS = WebUsers.rate(TransferRates.CLASSES.getFirst());

  private final Experiment lab;
  private final Samples objects = new Samples("object", "content");
  private final Samples documents = new Samples("clients", "content");

  SendfileGain(Experiment lab) {
    this.lab = lab;
  }

  void measure(TunedRun runs, List<Integer> kibibytes, List<Integer> users, int rounds)
      throws IOException, InterruptedException {
    for (int round = 1; round <= rounds; round++) {
      // Each way is first as often as last: the machine changes over minutes.
      List<String> ways = List.of(COPIED, SENDFILE);
      for (String way : round % 2 == 1 ? ways : ways.reversed()) {
        lab.step("content %s, round %d", way, round);
        String from = way.equals(COPIED) ? "off" : "128KiB";
        String cache = "  memory:\n    capacity: 512MiB\n    sendfile-from: " + from + "\n";
        var kamille = Kamille.of(Checkout.find()).withCache(cache).with(SETTINGS);
        try (var server = WanServer.start(runs.bench(), runs.spaces(), kamille, CONNECTIONS)) {
          for (int size : kibibytes) {
            var ten = new Crowd(size << 10);
            for (int client = 0; client < CLIENTS; client++) {
              ten.add("", Namespaces.SERVER_ADDRESS, Fetcher.UNLIMITED, 0);
            }
            var sample = Sample.of(size + " KiB", way, round);
            lab.keep("objects.csv", objects, run(runs.lasting(1, 2), server, ten, 100, sample));
          }
          int most = users.getLast();
          int warming = 2 * (int) runs.counted().toSeconds() - 2;
          for (boolean arePersistent : List.of(true, false)) {
            WebUsers all = users(most, arePersistent);
            run(runs.lasting(1, warming), server, all, 100, Sample.of("", way, round));
          }
          Child taking = SlowProcessor.start(runs.bench(), 100 - LEFT);
          for (int count : users) {
            var sample = Sample.of(count + PERSISTENT, way, round);
            lab.keep(FILE, documents, run(runs, server, users(count, true), LEFT, sample));
          }
          WebUsers old = users(most, false);
          var sample = Sample.of(old.count() + OLD, way, round);
          lab.keep(FILE, documents, run(runs, server, old, LEFT, sample));
          taking.stop();
        }
      }
    }
  }

  private static WebUsers users(int count, boolean arePersistent) {
    return new WebUsers(count, arePersistent, HASTE, i -> "127.1." + i / 200 + "." + (i % 200 + 1));
  }

  /** A run beside a server that has so many per cent of its core. */
  private static Sample run(TunedRun runs, WanServer server, Load load, int percent, Sample sample)
      throws IOException, InterruptedException {
    try (var timer = Executors.newSingleThreadScheduledExecutor()) {
      long settling = runs.settling().toMillis();
      Future<CpuTime> before = timer.schedule(server::cpuTime, settling, TimeUnit.MILLISECONDS);
      runs.spaces().callAtServer(() -> load.run(runs.settling(), runs.counted(), sample));
      double micros = server.cpuTime().minus(before.resultNow()).micros();
      return sample.with(CPU, micros / runs.counted().toMillis() / 10 / percent);
    }
  }

  /** Without runs in which the client was at its own limit. */
  private Samples undisturbed() {
    return documents.where(one -> one.of(WebUsers.IDLE) >= LEAST_IDLE);
  }

  /** Formula (2), of some documents. */
  private Optional<Spread> gain(String users, Figure rate) {
    return undisturbed().ratio(rate, users, SENDFILE, COPIED);
  }

  List<Finding> findings(List<Integer> users) {
    Optional<Spread> best =
        objects.situations().stream()
            .flatMap(object -> objects.ratio(BYTES, object, SENDFILE, COPIED).stream())
            .max(Comparator.comparingDouble(Spread::median));
    String few = users.getFirst() + PERSISTENT;
    String many = users.getLast() + PERSISTENT;
    return List.of(
        Finding.atLeast(
            "Fig. 4: with one copy less up to 30 % more: the object with most", best, 1.25, 1.05),
        hardly("Fig. 8: 10 clients gain hardly anything: G at most 1.1", few),
        exceeds("Fig. 8: the gain grows with the number of clients", many, few),
        exceeds("Fig. 8: there is hardly any with HTTP/1.0", many, users.getLast() + OLD));
  }

  private Finding hardly(String claim, String users) {
    return gain(users, LARGE)
        .map(all -> Finding.atLeast(claim, -all.median(), -1.1, -1.25, all.text(2)))
        .orElse(Finding.untested(claim, "not measured, or the client was at its limit"));
  }

  /** A claim that some users, who load the server, gain more than others. */
  private Finding exceeds(String claim, String loading, String others) {
    Optional<Spread> gain = gain(loading, LARGE);
    Optional<Spread> other = gain(others, LARGE);
    Optional<Spread> small = gain(loading, COPIED_ALWAYS);
    if (gain.isEmpty() || other.isEmpty() || small.isEmpty()) {
      return Finding.untested(claim, "not measured, or the client was at its limit");
    }
    String figures =
        String.format(
            Locale.ROOT,
            "G of 256 KiB to 1 MiB, %s: %s; %s: %s; of up to 4 KiB, which is always copied: %s",
            loading,
            gain.get().text(2),
            others,
            other.get().text(2),
            small.get().text(2));
    if (undisturbed().of(loading).stream().anyMatch(run -> run.of(CPU) <= LOADED)) {
      return Finding.untested(claim, "the server was not at its limit; " + figures);
    }
    return gain.get().least() < 1 && gain.get().greatest() > 1
        ? Finding.untested(claim, "rounds disagree whether there is a gain; " + figures)
        : Finding.atLeast(claim, gain.get().median() - other.get().median(), 0.1, 0.03, figures);
  }

  void reportObjects(Report report) {
    report.heading("By sendfile or copied (Fig. 4)");
    report.paragraph("10 clients are on the same machine, without a path between.");
    report.table(objects.wholeTable("content", "object", OBJECTS));
  }

  void reportDocuments(Report report) {
    Samples known = undisturbed();
    report.heading("By sendfile or copied, users of the web (Fig. 8)");
    report.paragraph(
        String.format(
            Locale.ROOT,
            "SURGE's documents and pauses (Barford and Crovella, 1998), the pauses divided by %d,"
                + " on the same machine. A process of real-time priority leaves %d %% of its core"
                + " to the server; CPU is in parts of that. G is formula (2): the mean of size ÷"
                + " transfer time, by sendfile ÷ copied. Kamille sends by sendfile from 128 KiB,"
                + " and copies each document three times before. Runs that are left out because the"
                + " client was at its limit: %d.",
            HASTE,
            LEFT,
            documents.all().size() - known.all().size()));
    var columns =
        new ArrayList<>(
            List.of(
                Column.median("responses/s", WebUsers.RESPONSES, 0),
                Column.median("server's CPU", CPU, 2),
                Column.median("client idle", WebUsers.IDLE, 2)));
    var chart = new LineChart("gain of sendfile by document size", "log2 of KiB, at most", "G");
    TransferRates.CLASSES.forEach(
        each -> columns.add(Column.ratio("G " + each, WebUsers.rate(each), COPIED)));
    report.table(known.wholeTable("content", "clients", columns));
    for (String users : known.situations()) {
      var points = new ArrayList<Point>();
      for (int i = 0; i < TransferRates.CLASSES.size(); i++) {
        int log = 2 + 2 * i;
        gain(users, WebUsers.rate(TransferRates.CLASSES.get(i)))
            .ifPresent(all -> points.add(new Point(log, all.median())));
      }
      chart.line(users, points);
    }
    report.plot("gain", chart);
  }
}
