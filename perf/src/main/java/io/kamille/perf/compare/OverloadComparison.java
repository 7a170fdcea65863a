package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.UserClient;
import io.kamille.perf.load.UserClient.Marks;
import io.kamille.perf.load.UserClient.Wants;
import io.kamille.perf.load.UserResult;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What servers answer, and how late, when more is asked of them than they can do. */
public final class OverloadComparison {

  /*
   * One server after the other on core 0, of which a process of ours takes most; users, and the
   * origin, on core 1. A server warms up on its whole core. Kamille with and without shedding is
   * one process that reloads its configuration, and both are measured against what it can do
   * without: what shedding costs must show.
   */

  /** What there is to say on the command line. */
  public static final String HELP = OverloadOptions.HELP;

  private static final Subject HIT = Subject.HITS.getFirst();
  private static final Subject PASS = Subject.PASSES.getFirst();
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration SETTLING = Duration.ofSeconds(3);
  private static final Duration TRIAL_SETTLING = Duration.ofMillis(500);
  private static final Duration TRIAL = Duration.ofMillis(2500);
  private static final double WARMUP_RATE = 15_000;
  private static final double OVERLOADING_RATE = 40_000;
  private static final Duration OVERLOADED_WARMUP = Duration.ofSeconds(12);
  private static final double FIRST_RATE = 8_000;
  private static final double CAPACITY_P99_MICROS = 50_000;
  private static final double KEPT_UP_RATIO = 0.99;
  private static final double QUIET_LOAD = 0.5;
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  private final OverloadOptions options;
  private final Wants wants;

  private OverloadComparison(OverloadOptions options) {
    this.options = options;
    this.wants = new Wants(request(HIT), request(PASS), options.missShare());
  }

  private static LoadRequest request(Subject subject) {
    return LoadRequest.get("127.0.0.1", subject.path(), FixedContent.octets(subject.size()));
  }

  /**
   * Compares as these words of a command line say.
   *
   * @throws IllegalArgumentException if one is not understood
   */
  public static OverloadComparison of(List<String> words) {
    return new OverloadComparison(OverloadOptions.parse(words));
  }

  /**
   * Measures, prints and writes the report.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    int users = DescriptorLimit.connections(options.users());
    var facts = facts(checkout, users);
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      System.out.println("note: this machine is busy with other things; expect disturbed numbers");
    }
    var report = new OverloadReport(facts);
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      facts.put("tcp_congestion_control", CongestionControl.current());
      bench.moveTo(Core.OTHERS);
      var origin = Origin.start(bench);
      for (String server : servers()) {
        measure(bench, checkout, server, origin, users, report);
      }
    } finally {
      if (!report.isEmpty()) {
        write(checkout, report);
      }
    }
  }

  private List<String> servers() {
    boolean hasKamille = options.has(OverloadServer.SHEDDING) || options.has(OverloadServer.OFF);
    return List.of(OverloadServer.SHEDDING, "nginx", "haproxy").stream()
        .filter(name -> name.equals(OverloadServer.SHEDDING) ? hasKamille : options.has(name))
        .toList();
  }

  private Map<String, String> facts(Checkout checkout, int users) throws IOException {
    var facts = new LinkedHashMap<>(HostFingerprint.take(checkout).facts());
    facts.put(
        "subject",
        String.format(
            Locale.ROOT,
            "%s, %.0f %% of requests forwarded, Poisson arrivals",
            HIT.label(),
            options.missShare() * 100));
    facts.put(
        "users",
        users
            + (options.areRude() ? " that ask again at once" : " that wait when told to")
            + ", each with a connection, patient for "
            + PATIENCE.toSeconds()
            + " s");
    facts.put("processor", "of the server's core " + options.slowPercent() + " % are taken");
    facts.put("kamille", "overload.target " + options.target() + "; off: without");
    facts.put("run", SETTLING.toSeconds() + " s to settle, " + options.seconds() + " s counted");
    return facts;
  }

  private void measure(
      Workbench bench,
      Checkout checkout,
      String name,
      Origin origin,
      int users,
      OverloadReport report)
      throws IOException, InterruptedException {
    var place = new Place(Job.HIT, Workbench.freePort(), origin.port(), users, List.of());
    var server = start(bench, checkout, name, place);
    if (server == null) {
      return;
    }
    try {
      server.contestant().prove(HIT);
      try (var client = UserClient.open(settings(place))) {
        new Measuring(bench, server, client, report).run();
      }
    } finally {
      server.contestant().process().stop();
    }
  }

  /** Without misses the origin has nothing to do, and the users' core is theirs. */
  private LoadSettings settings(Place place) {
    var settings =
        LoadSettings.persistent(place.port(), place.connections()).withTimeLimit(PATIENCE);
    return options.missShare() > 0 ? settings.onSharedCore() : settings;
  }

  private @Nullable OverloadServer start(
      Workbench bench, Checkout checkout, String name, Place place) throws IOException {
    if (name.equals(OverloadServer.SHEDDING)) {
      return OverloadServer.kamille(bench, checkout, place, options.target());
    }
    Peer peer = name.equals("nginx") ? new Nginx() : new Haproxy();
    String missing = peer.missing();
    if (missing != null) {
      System.out.println("left out: " + missing);
      return null;
    }
    var process = bench.start(name, Core.SERVER, peer.prepare(bench.directory(name), place));
    process.awaitListening(place.port(), START_LIMIT);
    return OverloadServer.of(new Contestant(peer, process, place.port()));
  }

  private void write(Checkout checkout, OverloadReport points) throws IOException {
    String stamp = LocalDateTime.now(ZoneOffset.UTC).format(STAMP);
    Path directory =
        options.directory() != null
            ? options.directory()
            : checkout.root().resolve("perf/target/overload-" + stamp);
    Files.createDirectories(directory);
    Report report = points.report();
    Files.writeString(directory.resolve("report.md"), report.markdown());
    Files.writeString(directory.resolve("report.html"), report.html());
    Files.writeString(directory.resolve("points.csv"), points.csv());
    for (Report.PlotFile plot : report.plots()) {
      Files.writeString(directory.resolve(plot.name()), plot.svg());
    }
    System.out.println();
    System.out.println(points.table());
    points.verdicts().forEach(verdict -> System.out.println("  " + verdict));
    System.out.println("report: " + directory.resolve("report.md"));
  }

  /** One server that runs. */
  private final class Measuring {

    private final Workbench bench;
    private final OverloadServer server;
    private final UserClient client;
    private final OverloadReport report;

    private Measuring(
        Workbench bench, OverloadServer server, UserClient client, OverloadReport report) {
      this.bench = bench;
      this.server = server;
      this.client = client;
      this.report = report;
    }

    private void run() throws IOException, InterruptedException {
      warm();
      if (options.slowPercent() == 0) {
        measureAll();
        return;
      }
      Child slow = SlowProcessor.start(bench, options.slowPercent());
      try {
        measureAll();
      } finally {
        slow.stop();
      }
    }

    private void measureAll() throws IOException, InterruptedException {
      warmInOverload();
      double capacity = options.capacity() > 0 ? options.capacity() : capacity();
      System.out.printf(
          Locale.ROOT, "%s: capacity %,.0f requests/s%n", server.contestant().name(), capacity);
      for (double load : options.loads()) {
        for (String way : server.ways()) {
          if (options.has(way)) {
            server.become(way);
            measure(way, load, capacity);
          }
        }
      }
    }

    private void warm() throws IOException {
      int seconds = server.contestant().peer().warmupSeconds();
      load(WARMUP_RATE, Duration.ZERO, Duration.ofSeconds(seconds), 1, Marks.NONE);
    }

    /** What is done only under too much load must be machine code too before it is measured. */
    private void warmInOverload() throws IOException, InterruptedException {
      if (!server.contestant().peer().isJava()) {
        return;
      }
      for (String way : server.ways()) {
        server.become(way);
        load(OVERLOADING_RATE, Duration.ZERO, OVERLOADED_WARMUP, 2, Marks.NONE);
      }
    }

    private UserResult load(
        double rate, Duration settling, Duration counted, long seed, Marks marks)
        throws IOException {
      var schedule = RateSchedule.steady(rate, settling.plus(counted));
      var how = new UserClient.Settings(wants, settling, options.areRude(), seed);
      return client.run(Arrivals.poisson(schedule, seed), how, marks);
    }

    private double capacity() throws IOException, InterruptedException {
      server.become(server.ways().getLast());
      double capacity = new CapacitySearch(1.4, 1.03, 10).find(FIRST_RATE, this::holds);
      if (capacity == 0) {
        throw new IOException(server.contestant().name() + " keeps up with no rate");
      }
      return capacity;
    }

    /** Asked again if it does not: what disturbs one trial should not decide. */
    private boolean holds(double rate) throws IOException {
      boolean holds = holdsOnce(rate);
      return holds || holdsOnce(rate);
    }

    private boolean holdsOnce(double rate) throws IOException {
      UserResult load = load(rate, TRIAL_SETTLING, TRIAL, Math.round(rate), Marks.NONE);
      System.out.printf(
          Locale.ROOT,
          "  trial of %,.0f/s: %,.0f/s answered, p99 %.1f ms, the client late by %.1f ms (p99)%n",
          rate,
          load.goodput(),
          load.latencyMicros(99) / 1e3,
          load.latenessMicros(99) / 1e3);
      return load.failed() + load.timedOut() + load.shed() == 0
          && load.latencyMicros(99) <= CAPACITY_P99_MICROS
          && load.goodput() >= load.offered() * 1e9 / load.nanos() * KEPT_UP_RATIO;
    }

    private void measure(String way, double load, double capacity) throws IOException {
      var meter = new Meter();
      UserResult result =
          load(
              load * capacity,
              SETTLING,
              Duration.ofSeconds(options.seconds()),
              Math.round(load * 1000),
              meter);
      var point =
          new OverloadPoint(way, load, capacity, result, meter.cpuMicros(), meter.residentBytes);
      report.add(point);
      System.out.printf(
          Locale.ROOT,
          "%s, %.2f × capacity: goodput %.2f × capacity, p99 %.1f ms%n",
          way,
          load,
          point.goodputRatio(),
          point.p99Micros() / 1e3);
    }

    /** Reads the server's meters when counting begins and ends. */
    private final class Meter implements Marks {

      private CpuTime before = CpuTime.ZERO;
      private CpuTime after = CpuTime.ZERO;
      private long residentBytes;

      @Override
      public void begin() throws IOException {
        before = server.contestant().process().cpuTime();
      }

      @Override
      public void end() throws IOException {
        after = server.contestant().process().cpuTime();
        residentBytes = server.contestant().process().memory().residentBytes();
      }

      private long cpuMicros() {
        CpuTime taken = after.minus(before);
        return taken.userMicros() + taken.kernelMicros();
      }
    }
  }
}
