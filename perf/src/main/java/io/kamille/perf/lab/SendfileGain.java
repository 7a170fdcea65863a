package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.load.SurgeClients;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/** Fig. 4 and 8: what sendfile gains over copies, by object and under a web workload. */
final class SendfileGain {

  /*
   * 32 KiB is the least that Kamille sends by sendfile. Clients are in the server's own namespace,
   * on the other core: what a path takes would hide what a copy takes.
   *
   * The paper's clients ask 14 times a second each (25,000 requests in half an hour). SURGE's
   * pauses are divided so that ours do, if nothing else takes time.
   */
  private static final String COPIED = "copied";
  private static final String SENDFILE = "by sendfile";
  private static final List<String> WAYS = List.of(COPIED, SENDFILE);
  private static final int CONNECTIONS = 2000;
  private static final int HASTE = 40;
  private static final long SEED = 8;
  private static final double MIB = 1 << 20;

  /** The server is loaded from here on. */
  private static final double LOADED = 0.85;

  /** A client that has less is at its own limit. */
  private static final double LEAST_IDLE = 0.1;

  /** Classes of which most documents go by sendfile. */
  private static final List<String> LARGE = TransferRates.CLASSES.subList(3, 6);

  private static final Figure BYTES = Figure.of("goodput_bytes");
  private static final Figure CPU_PER_MIB = Figure.of("cpu_micros_per_mib");
  private static final List<Column> OBJECTS =
      List.of(
          Column.spread("MiB/s", BYTES.times(1 / MIB), 0),
          Column.ratio("rate ×", BYTES, COPIED),
          Column.median("CPU µs/MiB", CPU_PER_MIB, 0),
          Column.ratio("CPU ×", CPU_PER_MIB, COPIED));

  private static final Figure RESPONSES = Figure.of("responses_per_second");
  private static final Figure CPU = Figure.of("cpu_share");
  private static final Figure IDLE = Figure.of("client_idle_share");

  /** How many ask, and how. */
  private record Users(int count, boolean arePersistent) {
    private String label() {
      return count + (arePersistent ? ", persistent" : ", HTTP/1.0");
    }
  }

  private final Experiment lab;
  private final Samples objects = new Samples("object, clients", "content");
  private final Samples documents = new Samples("clients", "content");

  SendfileGain(Experiment lab) {
    this.lab = lab;
  }

  private static Figure rate(String sizeClass) {
    return Figure.of("bytes_per_second " + sizeClass);
  }

  void measure(
      TunedRun runs,
      List<Integer> kibibytes,
      List<Integer> clients,
      List<Integer> users,
      int rounds)
      throws IOException, InterruptedException {
    for (int round = 1; round <= rounds; round++) {
      for (String way : WAYS) {
        lab.step("content %s, round %d", way, round);
        String from = way.equals(COPIED) ? "off" : "32KiB";
        String cache = "  memory:\n    capacity: 512MiB\n    sendfile-from: " + from + "\n";
        var kamille = Kamille.of(Checkout.find()).withCache(cache);
        try (var server = WanServer.start(runs.bench(), runs.spaces(), kamille, CONNECTIONS)) {
          for (int size : kibibytes) {
            for (int count : clients) {
              var sample = Sample.of(size + " KiB, " + count, way, round);
              lab.keep("objects.csv", objects, fetch(runs, server, size << 10, count, sample));
            }
          }
          browse(runs, server, new Users(100, true), Sample.of("warming", way, round));
          for (Users each : users(users)) {
            var sample = Sample.of(each.label(), way, round);
            lab.keep("documents.csv", documents, browse(runs, server, each, sample));
          }
        }
      }
    }
  }

  private static List<Users> users(List<Integer> counts) {
    var all = new ArrayList<>(counts.stream().map(count -> new Users(count, true)).toList());
    all.add(new Users(Collections.max(counts), false));
    return all;
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
                List<Long> octets = clients.run(Duration.ZERO, Duration.ofSeconds(2));
                double bytes = octets.stream().mapToLong(Long::longValue).sum();
                return sample
                    .with(BYTES, bytes / 2)
                    .with(CPU_PER_MIB, server.cpuTime().minus(before).micros() / (bytes / MIB));
              });
    }
  }

  private static Sample browse(TunedRun runs, WanServer server, Users users, Sample sample)
      throws IOException, InterruptedException {
    List<String> locals =
        IntStream.range(0, users.count())
            .mapToObj(user -> "127.1." + user / 200 + "." + (user % 200 + 1))
            .toList();
    CpuTime before = server.cpuTime();
    SurgeClients.Outcome outcome =
        runs.spaces()
            .callAtServer(
                () ->
                    SurgeClients.run(
                        WanServer.address(),
                        WanServer.authority(),
                        locals,
                        users.arePersistent(),
                        SEED,
                        HASTE,
                        runs.settling(),
                        runs.counted()));
    double micros = runs.settling().plus(runs.counted()).toNanos() / 1e3;
    sample
        .with(RESPONSES, (double) outcome.responses() / runs.counted().toSeconds())
        .with(CPU, server.cpuTime().minus(before).micros() / micros)
        .with(IDLE, outcome.idleShare());
    for (String each : TransferRates.CLASSES) {
      sample.with(rate(each), outcome.rates().mean(each).orElse(Double.NaN));
    }
    return sample;
  }

  /** Without runs in which the client was at its own limit. */
  private Samples undisturbed() {
    return documents.where(one -> one.of(IDLE) >= LEAST_IDLE);
  }

  /** Formula (2), of a size class. */
  private Optional<Spread> gain(String users, String sizeClass) {
    return undisturbed().ratio(rate(sizeClass), users, SENDFILE, COPIED);
  }

  /** The mean of the medians of large documents; NaN if one is not known. */
  private double largeGain(String users) {
    return LARGE.stream()
        .mapToDouble(each -> gain(users, each).map(Spread::median).orElse(Double.NaN))
        .average()
        .orElse(Double.NaN);
  }

  List<Finding> findings() {
    return List.of(byObject(), growing(), persistentOnly());
  }

  private Finding byObject() {
    String claim = "Fig. 4: without copies up to 30 % more";
    Spread best = null;
    String at = "";
    for (String object : objects.situations()) {
      Optional<Spread> times = objects.ratio(BYTES, object, SENDFILE, COPIED);
      if (times.isPresent() && (best == null || times.get().median() > best.median())) {
        best = times.get();
        at = object;
      }
    }
    return best == null
        ? Finding.untested(claim, "no figures")
        : Finding.atLeast(
            claim, best.median(), 1.25, 1.05, "at the best × " + best.text(2) + " (" + at + ")");
  }

  private Finding growing() {
    String claim = "Fig. 8: the gain grows with the number of clients";
    List<String> persistent =
        undisturbed().situations().stream().filter(one -> one.endsWith("persistent")).toList();
    if (persistent.size() < 2) {
      return Finding.untested(claim, "no figures");
    }
    String few = persistent.getFirst();
    String many = persistent.getLast();
    String figures = gains(few) + "; " + gains(many);
    return isLoaded(many)
        ? Finding.atLeast(claim, largeGain(many) - largeGain(few), 0.05, 0.02, figures)
        : Finding.untested(claim, "the server was not at its limit: " + figures);
  }

  private Finding persistentOnly() {
    String claim = "Fig. 8: it shows with persistent connections only";
    List<String> all = undisturbed().situations();
    if (all.size() < 2 || !all.getLast().endsWith("HTTP/1.0")) {
      return Finding.untested(claim, "no figures, or the client was at its limit");
    }
    String fresh = all.getLast();
    String persistent = all.get(all.size() - 2);
    String figures = gains(persistent) + "; " + gains(fresh);
    if (!isLoaded(persistent) || largeGain(persistent) < 1.05) {
      return Finding.untested(claim, "no gain to compare: " + figures);
    }
    double part = (largeGain(persistent) - 1) / Math.max(1e-3, largeGain(fresh) - 1);
    return Finding.atLeast(claim, part, 3, 1.5, figures);
  }

  private boolean isLoaded(String users) {
    return WAYS.stream()
        .allMatch(
            way ->
                undisturbed().spread(CPU, users, way).stream()
                    .anyMatch(all -> all.median() > LOADED));
  }

  private String gains(String users) {
    return String.format(
        Locale.ROOT, "%s clients: G of documents over 64 KiB %.2f", users, largeGain(users));
  }

  void reportObjects(Report report) {
    report.heading("By sendfile or copied (Fig. 4)");
    report.paragraph("Clients are on the same machine, without a path between.");
    report.table(objects.wholeTable("content", "object, clients", OBJECTS));
  }

  void reportDocuments(Report report) {
    report.heading("By sendfile or copied, users of the web (Fig. 8)");
    report.paragraph(
        (documents.all().size() - undisturbed().all().size())
            + " runs are left out, because the client was at its limit. SURGE's documents and"
            + " pauses (Barford and Crovella, 1998), the pauses divided by "
            + HASTE
            + ", on the same machine. Kamille copies documents of less than 32 KiB, and each"
            + " document seven times before sendfile. G is formula (2): the mean of size ÷ transfer"
            + " time, by sendfile ÷ copied.");
    var columns =
        new ArrayList<>(
            List.of(
                Column.median("responses/s", RESPONSES, 0),
                Column.median("server's CPU", CPU, 2),
                Column.median("client idle", IDLE, 2)));
    for (String each : TransferRates.CLASSES) {
      columns.add(Column.ratio("G " + each, rate(each), COPIED));
    }
    report.table(undisturbed().wholeTable("content", "clients", columns));
    var chart = new LineChart("gain of sendfile by document size", "log2 of KiB, at most", "G");
    for (String users : undisturbed().situations()) {
      chart.line(
          users,
          IntStream.range(0, TransferRates.CLASSES.size())
              .boxed()
              .flatMap(
                  at ->
                      gain(users, TransferRates.CLASSES.get(at)).stream()
                          .map(all -> new Point(2 + 2 * at, all.median())))
              .toList());
    }
    report.plot("gain", chart);
  }
}
