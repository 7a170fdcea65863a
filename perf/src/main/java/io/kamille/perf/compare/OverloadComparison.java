package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.UserDemand;
import io.kamille.perf.load.UserDemand.Marks;
import io.kamille.perf.load.UserDemand.Wants;
import io.kamille.perf.load.UserResult;
import io.kamille.perf.load.UserResult.Count;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Sample;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What servers answer, and how late, when more is asked of them than they can do. */
public final class OverloadComparison {

  /*
   * One server after the other on core 0, of which a process of ours takes most; users, and the
   * origin, on core 1. A server warms up on its whole core. Kamille with and without shedding is
   * one process that reloads its configuration, and both are measured against what it can do
   * without: what shedding costs must show.
   */

  private static final String SHEDDING = OverloadReport.SHEDDING;

  /** The same one when it does not. */
  private static final String OFF = "off";

  private static final Pattern SHARE = Pattern.compile("[0-9](\\.[0-9]{1,3})?");

  /** What can be chosen. */
  public static final Options OPTIONS =
      Options.none()
          .texts(
              "--loads", "A,B", List.of("0.5", "0.8", "1", "1.5", "2", "3"), SHARE, "in capacities")
          .number("--seconds", 12, 1, 1000, "of load that are counted, at each")
          .shortcut(
              "--quick",
              "--loads 0.8,1,3 --seconds 4",
              "4 seconds at 0.8, 1 and 3: to see that it works, not to believe it")
          .number("--users", 4000, 1, 100_000, "each with a connection")
          .flag("--rude", "users ask again though they were told to wait")
          .text("--misses", "SHARE", "0", SHARE, "of requests that must be forwarded, 0 to 1")
          .number(
              "--slow", 80, 0, 90, "per cent of the server's core that are taken from it (as root)")
          .text(
              "--target",
              "TIME",
              "5ms",
              Pattern.compile("[1-9][0-9]{0,5}(us|ms)"),
              "of Kamille's overload.target")
          .number("--capacity", 0, 0, 10_000_000, "requests/s; 0 looks for each server's")
          .names(
              "--only",
              List.of(),
              List.of(SHEDDING, OFF, "nginx", "haproxy"),
              "of kamille, off, nginx, haproxy")
          .directory("perf/target/overload-TIME");

  private static final Subject HIT = Subject.HITS.getFirst();
  private static final Subject PASS = Subject.PASSES.getFirst();
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

  private final Session session;
  private final Chosen chosen;
  private final int users;
  private final double missShare;
  private final Wants wants;
  private final OverloadReport report;

  private OverloadComparison(Session session, int users) {
    this.session = session;
    this.chosen = session.chosen();
    this.users = users;
    this.missShare = Math.min(1, Double.parseDouble(chosen.text("--misses")));
    this.report = new OverloadReport();
    this.wants = new Wants(HIT.request("127.0.0.1"), PASS.request("127.0.0.1"), missShare);
  }

  /** Compares, prints and writes the report, also of what was measured before a failure. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    int users = DescriptorLimit.connections(chosen.number("--users"));
    try (var session = Session.open(chosen).loadFromHere()) {
      var comparison = new OverloadComparison(session, users);
      comparison.tellFacts();
      try {
        comparison.measureAll();
      } finally {
        comparison.report.write(session, chosen.textOrNull("--to"));
      }
    }
  }

  private void tellFacts() {
    session.fact(
        "subject",
        "%s, %.0f %% of requests forwarded, Poisson arrivals",
        HIT.label(),
        missShare * 100);
    session.fact(
        "users",
        "%d that %s, each with a connection, patient for %d s",
        users,
        chosen.has("--rude") ? "ask again at once" : "wait when told to",
        PATIENCE.toSeconds());
    session.fact("processor", "of the server's core %d %% are taken", chosen.number("--slow"));
    session.fact("kamille", "overload.target %s; off: without", chosen.text("--target"));
    session.fact("run", "%d s to settle, %d s counted", SETTLING.toSeconds(), session.seconds());
    session.begin();
  }

  private void measureAll() throws IOException, InterruptedException {
    if (session.isWanted(SHEDDING) || session.isWanted(OFF)) {
      measure(new Kamille(session.checkout()).with(overload(OFF)));
    }
    for (Peer peer : List.of(new Nginx(), new Haproxy())) {
      String missing = peer.missing();
      if (missing != null) {
        System.out.println("left out: " + missing);
      } else if (session.isWanted(peer.name())) {
        measure(peer);
      }
    }
  }

  private static String overload(String target) {
    return "overload:\n  target: " + target + "\n";
  }

  private void measure(Peer peer) throws IOException, InterruptedException {
    int origin = session.origin().port();
    var place = new Place(Job.HIT, Workbench.freePort(), origin, users, List.of());
    ChangingKamille kamille =
        peer instanceof Kamille one ? ChangingKamille.start(session.bench(), one, place) : null;
    Contestant server =
        kamille == null ? Contestant.start(session.bench(), peer, place) : kamille.contestant();
    try {
      server.prove(HIT);
      try (var client = LoadClient.open(settings(place))) {
        new Measuring(server, kamille, client).run();
      }
    } finally {
      server.process().stop();
    }
  }

  /** Without misses the origin has nothing to do, and the users' core is theirs. */
  private LoadSettings settings(Place place) {
    var settings =
        LoadSettings.persistent(place.port(), place.connections()).withTimeLimit(PATIENCE);
    return missShare > 0 ? settings.onSharedCore() : settings;
  }

  /** One server that runs; a Kamille can change its way. */
  private final class Measuring {

    private final Contestant server;
    private final @Nullable ChangingKamille kamille;
    private final LoadClient client;

    private Measuring(Contestant server, @Nullable ChangingKamille kamille, LoadClient client) {
      this.server = server;
      this.kamille = kamille;
      this.client = client;
    }

    private List<String> ways() {
      return kamille == null ? List.of(server.name()) : List.of(SHEDDING, OFF);
    }

    private void become(String way) throws IOException, InterruptedException {
      if (kamille != null) {
        String target = way.equals(OFF) ? OFF : chosen.text("--target");
        kamille.become(new Kamille(session.checkout()).with(overload(target)));
      }
    }

    private void run() throws IOException, InterruptedException {
      int seconds = server.peer().warmupSeconds();
      load(WARMUP_RATE, Duration.ZERO, Duration.ofSeconds(seconds), 1, Marks.NONE);
      if (chosen.number("--slow") == 0) {
        measureAll();
        return;
      }
      Child slow = SlowProcessor.start(session.bench(), chosen.number("--slow"));
      try {
        measureAll();
      } finally {
        slow.stop();
      }
    }

    private void measureAll() throws IOException, InterruptedException {
      warmInOverload();
      int known = chosen.number("--capacity");
      double capacity = known > 0 ? known : capacity();
      System.out.printf(Locale.ROOT, "%s: capacity %,.0f requests/s%n", server.name(), capacity);
      for (String load : chosen.texts("--loads")) {
        for (String way : ways()) {
          if (session.isWanted(way)) {
            become(way);
            measure(way, Double.parseDouble(load), capacity);
          }
        }
      }
    }

    /** Code that runs only under too much load must be machine code too before it is measured. */
    private void warmInOverload() throws IOException, InterruptedException {
      if (!server.peer().isJava()) {
        return;
      }
      for (String way : ways()) {
        become(way);
        load(OVERLOADING_RATE, Duration.ZERO, OVERLOADED_WARMUP, 2, Marks.NONE);
      }
    }

    private UserResult load(
        double rate, Duration settling, Duration counted, long seed, Marks marks)
        throws IOException {
      var schedule = RateSchedule.steady(rate, settling.plus(counted));
      var how = new UserDemand.Settings(wants, settling, chosen.has("--rude"), seed);
      return UserDemand.run(client, Arrivals.poisson(schedule, seed), how, marks);
    }

    private double capacity() throws IOException, InterruptedException {
      become(ways().getLast());
      double capacity = new CapacitySearch(1.4, 1.03, 10).find(FIRST_RATE, this::holds);
      if (capacity == 0) {
        throw new IOException(server.name() + " keeps up with no rate");
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
      return load.of(Count.FAILED) + load.of(Count.TIMED_OUT) + load.of(Count.SHED) == 0
          && load.latencyMicros(99) <= CAPACITY_P99_MICROS
          && load.goodput() >= load.of(Count.OFFERED) * 1e9 / load.nanos() * KEPT_UP_RATIO;
    }

    private void measure(String way, double load, double capacity) throws IOException {
      var metered = Sample.of("", way, 1);
      var marks =
          new Marks() {

            private @Nullable Meter meter;

            @Override
            public void begin() throws IOException {
              meter = Meter.start(server.process());
            }

            @Override
            public void end() throws IOException {
              if (meter != null) {
                meter.stop(metered);
              }
            }
          };
      UserResult result =
          load(
              load * capacity,
              SETTLING,
              Duration.ofSeconds(session.seconds()),
              Math.round(load * 1000),
              marks);
      Sample sample = report.add(way, load, capacity, result, metered);
      System.out.printf(
          Locale.ROOT,
          "%s, %.2f × capacity: goodput %.2f × capacity, p99 %.1f ms%n",
          way,
          load,
          sample.of(OverloadReport.GOODPUT_RATIO),
          sample.of(OverloadReport.P99) / 1e3);
    }
  }
}
