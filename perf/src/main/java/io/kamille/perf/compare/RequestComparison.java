package io.kamille.perf.compare;

import static io.kamille.perf.compare.Meter.CPU;
import static io.kamille.perf.compare.Meter.KERNEL;
import static io.kamille.perf.compare.Meter.PROPORTIONAL;
import static io.kamille.perf.compare.Meter.USER;

import io.kamille.perf.compare.Subject.Kind;
import io.kamille.perf.host.LoadNetwork;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/** CPU time per request of Kamille and other servers that do the same job. */
@Command
public final class RequestComparison extends Comparison {

  /*
   * All servers run at once on one core, and one at a time is under load from the other core, where
   * the origin runs too. The rounds go A B C, A B C, and ratios are taken within a round.
   *
   * CPU time per request is what counts: it moves by a few per cent where throughput in a closed
   * loop moves by half. Throughput and latency are those of a saturated server.
   *
   * Over TLS, with one certificate of P-256. HAProxy's key has the scheme, so that a load begins
   * with requests that fill the store.
   */

  private static final String KAMILLE = "kamille";

  /*
   * No program opens a connection for each request over TLS and does the whole handshake. h2load
   * opens some every 100 ms, each for one request: no closed loop, but not above what servers can.
   */
  private static final int HANDSHAKES_PER_SECOND = 500;

  /** How much of a server's CPU time its compilers may take when they rest. */
  private static final double RESTING_RATIO = 0.01;

  private static final int MOST_WARMUP_STEPS = 8;

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure MICROS = Figure.of("micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure ALLOCATED = Figure.of("allocated_bytes");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);
  private static final Figure COMPILING = Meter.COMPILERS.times(1e-3).per(CPU);
  private static final Figure GARBAGE = ALLOCATED.per(REQUESTS);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU_PER_REQUEST, 2),
          Column.median("user", USER.per(REQUESTS), 2),
          Column.median("kernel", KERNEL.per(REQUESTS), 2),
          Column.median("compilers", Meter.COMPILERS.per(REQUESTS).times(1e-3), 2),
          Column.ratio("÷ floor", CPU_PER_REQUEST, "floor"),
          Column.ratio("÷ before", CPU_PER_REQUEST, "before"),
          Column.ratio("÷ haproxy", CPU_PER_REQUEST, "haproxy"),
          Column.ratio("÷ nginx", CPU_PER_REQUEST, "nginx"),
          Column.median("requests/s", REQUESTS.per(MICROS).times(1e6), 0),
          Column.median("p99 ms", P99.times(1e-3), 2),
          Column.median("MiB", PROPORTIONAL.times(1.0 / (1 << 20)), 0),
          Column.median("garbage B", GARBAGE, 0));

  private static final List<Aim> AIMS =
      List.of(
          cpu(Subject.HIT, "haproxy", 0.9),
          cpu(Subject.HIT, "nginx", 0.55),
          cpu(Subject.HIT, "floor", 1.25),
          cpu(Subject.LARGE, "nginx", 1.1),
          aim(
              Subject.HIT,
              200,
              "hit: at most 200 bytes of garbage",
              all -> all.spread(GARBAGE, Subject.HIT.label(), KAMILLE)),
          cpu(Subject.PASS, "haproxy", 1.3),
          cpu(Subject.PASS, "nginx", 0.6),
          cpu(Subject.MANY, "haproxy", 0.75),
          cpu(Subject.MANY, "nginx", 0.3),
          cpu(Subject.MANY, "h2o", 2.0),
          cpu(Subject.ONE, "haproxy", 1.0),
          cpu(Subject.TLS, "haproxy", 0.9),
          cpu(Subject.LARGE_TLS, "nginx", 0.9),
          aim(
              Subject.ONE,
              1.1,
              "one stream at most 1.10 × HTTP/1.1 over TLS",
              all ->
                  all.multiple(
                      CPU_PER_REQUEST, KAMILLE, Subject.ONE.label(), Subject.TLS.label())));

  /** A goal for what is asked of a subject. */
  private record Aim(Subject subject, Goal goal) {}

  private final List<Subject> subjects;
  private final List<String> usual;

  /** The beginning of a command in the other network; empty if there is none. */
  private List<String> apart = List.of();

  private RequestComparison(Predicate<Subject> isWanted, String... others) {
    super(7, 3, 64);
    this.subjects = Subject.ALL.stream().filter(isWanted).toList();
    this.usual = Stream.concat(Stream.of(KAMILLE, "nginx", "haproxy"), Stream.of(others)).toList();
  }

  /** Everything, beside the servers that the README names. */
  public static RequestComparison ofAll() {
    return new RequestComparison(_ -> true);
  }

  /** Answers from the store, on persistent connections. */
  public static RequestComparison ofHits() {
    return new RequestComparison(
        subject -> subject.kind() == Kind.HIT && !subject.isSecure(), "floor", "varnish");
  }

  /** Answers that come from the origin each time. */
  public static RequestComparison ofPasses() {
    return new RequestComparison(subject -> subject.kind() == Kind.PASS, "varnish");
  }

  /** Answers from the store in HTTP/2, beside HTTP/1.1 over TLS. */
  public static RequestComparison ofH2() {
    return new RequestComparison(Subject::isSecure, "h2o");
  }

  private static Aim cpu(Subject subject, String other, double limit) {
    return aim(
        subject,
        limit,
        String.format(Locale.ROOT, "%s: CPU at most %.2f × %s", subject.label(), limit, other),
        all -> all.ratio(CPU_PER_REQUEST, subject.label(), KAMILLE, other));
  }

  private static Aim aim(
      Subject subject, double limit, String claim, Function<Samples, Optional<Spread>> measured) {
    return new Aim(subject, Goal.atMost(limit, claim, measured));
  }

  @Override
  void run() throws IOException, InterruptedException {
    List<Peer> peers = installed(usual);
    fact(
        "run",
        "%d rounds of %d s, %d connections, half as many over TLS, closed loop, in turn;"
            + " %d handshakes/s",
        rounds,
        seconds,
        connections,
        HANDSHAKES_PER_SECOND);
    begin();
    var samples = new Samples("subject");
    var place = new Place(Job.HIT, 0, 0, connections);
    measure(samples, peers, clearPlace(place), false);
    measure(samples, peers, place.with(makeCertificates()), true);
    print(
        AIMS.stream().filter(aim -> subjects.contains(aim.subject())).map(Aim::goal).toList(),
        samples);
    print(summary(samples));
    for (String fact : List.of("date", "commit", "haproxy", "nginx")) {
      System.out.println(fact + ": " + facts().getOrDefault(fact, "not measured"));
    }
    keep(samples);
  }

  /** Where another network can reach the servers, if a subject needs that and it can be made. */
  private Place clearPlace(Place place) throws InterruptedException {
    if (subjects.stream().anyMatch(subject -> subject.kind() == Kind.APART)) {
      try {
        apart = LoadNetwork.open(bench());
        return place.at(LoadNetwork.SERVER_ADDRESS);
      } catch (IOException e) {
        note("left out: two network namespaces, which need root and iproute2: %s", e);
      }
    }
    return place;
  }

  /** Measures what can be measured in clear text or over TLS, with servers of its own. */
  private void measure(Samples samples, List<Peer> peers, Place place, boolean isSecure)
      throws IOException, InterruptedException {
    List<Subject> here =
        subjects.stream()
            .filter(subject -> subject.isSecure() == isSecure)
            .filter(subject -> subject.kind() != Kind.APART || !apart.isEmpty())
            .toList();
    startServers(here.isEmpty() ? List.of() : peers, place);
    for (Subject subject : here) {
      forEach(server -> warm(server, subject));
      inTurn(samples, (server, round) -> measure(server, subject, round));
      print(samples.table(subject.label(), subject.label(), COLUMNS));
      Meter.noteDisturbance(this, samples.of(subject.label()));
    }
    stopServers();
  }

  /** The table of the README: medians of Kamille, and of its ratios to the others. */
  static Table summary(Samples samples) {
    var table = new Table("Work", "HAProxy", "nginx", "Kamille, µs", "of it user");
    for (String work : samples.situations()) {
      table.row(
          List.of(
              work,
              median(samples.ratio(CPU_PER_REQUEST, work, KAMILLE, "haproxy")),
              median(samples.ratio(CPU_PER_REQUEST, work, KAMILLE, "nginx")),
              median(samples.spread(CPU_PER_REQUEST, work, KAMILLE)),
              median(samples.spread(USER.per(REQUESTS), work, KAMILLE))));
    }
    return table;
  }

  private static String median(Optional<Spread> known) {
    return known.map(all -> String.format(Locale.ROOT, "%.2f", all.median())).orElse("");
  }

  /** One certificate of P-256. */
  private Path makeCertificates() throws IOException, InterruptedException {
    Path directory = bench().directory("tls");
    String script =
        """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
          -subj /CN=localhost -keyout "$0/key.pem" -out "$0/chain.pem" &&
          cat "$0/chain.pem" "$0/key.pem" >"$0/both.pem"
        """;
    bench().run(Core.OTHERS, List.of("sh", "-c", script, directory.toString()));
    return directory;
  }

  /** Loads a server until its compilers rest: their work would count as that of requests. */
  private void warm(Contestant server, Subject subject) throws IOException, InterruptedException {
    if (!subject.isSecure()) {
      server.prove(subject);
    }
    int step = Math.min(server.peer().warmupSeconds(), rounds * seconds);
    int steps = isQuick ? 1 : MOST_WARMUP_STEPS;
    double compiling = 1;
    while (steps-- > 0 && compiling > RESTING_RATIO) {
      var meter = Meter.start(server.process());
      load(server, subject, step);
      compiling = meter.stop(Sample.of(subject.label(), server.name(), 0)).of(COMPILING);
    }
    if (compiling > RESTING_RATIO && !isQuick) {
      note("%s: the compilers still worked when %s was measured", subject.label(), server.name());
    }
  }

  private LoadProgram.Result load(Contestant server, Subject subject, int seconds)
      throws IOException, InterruptedException {
    var words = new ArrayList<String>();
    if (subject.isSecure()) {
      boolean isOnce = subject.kind() == Kind.CONNECTION;
      int clients = isOnce ? seconds * HANDSHAKES_PER_SECOND : Math.max(1, connections / 2);
      words.add("-c" + clients);
      words.addAll(
          isOnce
              ? List.of("-n" + clients, "-r" + HANDSHAKES_PER_SECOND / 10, "--rate-period=100ms")
              : List.of("-D" + seconds));
      words.add(subject.streams() == 0 ? "--h1" : "-m" + subject.streams());
      words.add(server.url(subject));
      return LoadProgram.h2load(bench(), seconds, words);
    }
    if (subject.kind() == Kind.CONNECTION) {
      words.add("-HConnection: close");
    }
    words.add(server.url(subject));
    var network = subject.kind() == Kind.APART ? apart : List.<String>of();
    return LoadProgram.wrk(bench(), network, connections, seconds, words);
  }

  private Sample measure(Contestant server, Subject subject, int round)
      throws IOException, InterruptedException {
    long forwardedBefore = origin().requests();
    long allocatedBefore = allocatedBytes(server);
    var meter = Meter.start(server.process());
    LoadProgram.Result load = load(server, subject, seconds);
    var sample = meter.stop(Sample.of(subject.label(), server.name(), round));
    long forwarded = origin().requests() - forwardedBefore;
    if (load.requests() == 0 || load.errors() > 0) {
      throw new IOException(server.name() + " failed " + load.errors() + " requests");
    }
    // What was under way at the end of the last load and of this one counts only here.
    int tolerance = subject.isForwarded() ? 2 * connections : 0;
    if (Math.abs(forwarded - (subject.isForwarded() ? load.requests() : 0)) > tolerance) {
      throw new IOException(
          server.name() + " forwarded " + forwarded + " of " + load.requests() + " requests");
    }
    return sample
        .with(REQUESTS, load.requests())
        .with(MICROS, load.micros())
        .with(P99, load.p99Micros() == 0 ? "" : load.p99Micros())
        .with(ALLOCATED, allocatedBytes(server) - allocatedBefore);
  }

  private long allocatedBytes(Contestant server) throws IOException, InterruptedException {
    return server.peer().isJava()
        ? ProcessFigures.allocatedBytes(bench(), server.process().pid())
        : 0;
  }
}
