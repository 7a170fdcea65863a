package io.kamille.perf.compare;

import static io.kamille.perf.compare.Meter.CPU;
import static io.kamille.perf.compare.Meter.KERNEL;
import static io.kamille.perf.compare.Meter.PROPORTIONAL;
import static io.kamille.perf.compare.Meter.USER;

import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure MICROS = Figure.of("micros");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure ALLOCATED = Figure.of("allocated_bytes");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);
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

  private static final Subject LARGE = new Subject(Job.HIT, "1 MiB hit", 1 << 20);
  private static final Subject MANY = hit("1 KiB hit, HTTP/2, 32 streams", 1 << 10, 32);
  private static final Subject ONE = hit("1 KiB hit, HTTP/2, one stream", 1 << 10, 1);
  private static final Subject TLS = hit("1 KiB hit, HTTP/1.1 over TLS", 1 << 10, 0);
  private static final Subject LARGE_TLS = hit("1 MiB hit, HTTP/1.1 over TLS", 1 << 20, 0);

  private final List<Subject> subjects;
  private final List<String> usual;
  private final List<Goal> goals;

  private RequestComparison(List<Subject> subjects, List<String> usual, List<Goal> goals) {
    super(7, 3, subjects.getFirst().streams() == Subject.CLEAR ? 64 : 32);
    this.subjects = subjects;
    this.usual = usual;
    this.goals = goals;
  }

  /** Answers from the store. */
  public static RequestComparison ofHits() {
    return new RequestComparison(
        List.of(Subject.HIT, new Subject(Job.HIT, "16 KiB hit", 16 << 10), LARGE),
        List.of("floor", "kamille", "nginx", "haproxy", "varnish"),
        List.of(
            cpu(Subject.HIT, "haproxy", 0.9),
            cpu(Subject.HIT, "nginx", 0.55),
            cpu(Subject.HIT, "floor", 1.25),
            cpu(LARGE, "nginx", 1.1),
            garbage(Subject.HIT)));
  }

  /** Answers that come from the origin each time. */
  public static RequestComparison ofPasses() {
    return new RequestComparison(
        List.of(Subject.PASS),
        List.of("kamille", "nginx", "haproxy", "varnish"),
        List.of(cpu(Subject.PASS, "haproxy", 1.3), cpu(Subject.PASS, "nginx", 0.6)));
  }

  /** Answers from the store in HTTP/2, beside HTTP/1.1 over TLS. */
  public static RequestComparison ofH2() {
    return new RequestComparison(
        List.of(MANY, ONE, TLS, LARGE_TLS),
        List.of("kamille", "nginx", "haproxy", "h2o"),
        List.of(
            cpu(MANY, "haproxy", 0.75),
            cpu(MANY, "nginx", 0.3),
            cpu(MANY, "h2o", 2.0),
            cpu(ONE, "haproxy", 1.0),
            cpu(TLS, "haproxy", 0.9),
            cpu(LARGE_TLS, "nginx", 0.9),
            Goal.atMost(
                1.1,
                "one stream at most 1.10 × HTTP/1.1 over TLS",
                all -> all.multiple(CPU_PER_REQUEST, "kamille", ONE.label(), TLS.label()))));
  }

  private static Subject hit(String label, int size, int streams) {
    return new Subject(Job.HIT, label, size, streams);
  }

  private static Goal cpu(Subject subject, String other, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%s: CPU at most %.2f × %s", subject.label(), limit, other),
        all -> all.ratio(CPU_PER_REQUEST, subject.label(), "kamille", other));
  }

  private static Goal garbage(Subject subject) {
    return Goal.atMost(
        200,
        subject.label() + " at most 200 bytes of garbage",
        all -> all.spread(GARBAGE, subject.label(), "kamille"));
  }

  private boolean isSecure() {
    return subjects.getFirst().streams() != Subject.CLEAR;
  }

  @Override
  void run() throws IOException, InterruptedException {
    Path certificates = isSecure() ? makeCertificates() : null;
    startServers(usual, new Place(subjects.getFirst().job(), 0, 0, connections).with(certificates));
    fact(
        "run",
        "%d rounds of %d s, %d connections, closed loop, in turn",
        rounds,
        seconds,
        connections);
    begin();
    var samples = new Samples("subject");
    for (Subject subject : subjects) {
      forEach(server -> warm(server, subject));
      inTurn(samples, (server, round) -> measure(server, subject, round));
      print(samples.table(subject.label(), subject.label(), COLUMNS));
      Meter.noteDisturbance(this, samples.of(subject.label()));
    }
    print(goals, samples);
    keep(samples);
  }

  /** One certificate of P-256. */
  private Path makeCertificates() throws IOException, InterruptedException {
    Path directory = bench().directory("tls");
    Path chain = directory.resolve("chain.pem");
    Path key = directory.resolve("key.pem");
    var words =
        new ArrayList<>(
            List.of(
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
                    .split(" ", -1)));
    words.addAll(List.of("-subj", "/CN=localhost", "-keyout", key + "", "-out", chain + ""));
    bench().run(Core.OTHERS, words);
    Files.writeString(
        directory.resolve("both.pem"), Files.readString(chain) + Files.readString(key));
    return directory;
  }

  private void warm(Contestant server, Subject subject) throws IOException, InterruptedException {
    if (!isSecure()) {
      server.prove(subject);
    }
    load(server, subject, Math.min(server.peer().warmupSeconds(), rounds * seconds));
  }

  private LoadProgram.Result load(Contestant server, Subject subject, int seconds)
      throws IOException, InterruptedException {
    int streams = subject.streams();
    return streams == Subject.CLEAR
        ? LoadProgram.wrk(bench(), connections, server.port(), subject.path(), seconds)
        : LoadProgram.h2load(bench(), connections, streams, server.port(), subject.path(), seconds);
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
    if (!isRight(subject, load.requests(), forwarded)) {
      throw new IOException(
          server.name() + " forwarded " + forwarded + " of " + load.requests() + " requests");
    }
    return sample
        .with(REQUESTS, load.requests())
        .with(MICROS, load.micros())
        .with(P50, load.p50Micros())
        .with(P99, load.p99Micros())
        .with(ALLOCATED, allocatedBytes(server) - allocatedBefore);
  }

  private boolean isRight(Subject subject, long requests, long forwarded) {
    return subject.job().isStoring()
        ? forwarded == 0
        : Math.abs(forwarded - requests) <= connections;
  }

  private long allocatedBytes(Contestant server) throws IOException, InterruptedException {
    return server.peer().isJava()
        ? ProcessFigures.allocatedBytes(bench(), server.process().pid())
        : 0;
  }
}
