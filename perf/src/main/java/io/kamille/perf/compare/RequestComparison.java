package io.kamille.perf.compare;

import static io.kamille.perf.compare.Meter.CPU;
import static io.kamille.perf.compare.Meter.KERNEL;
import static io.kamille.perf.compare.Meter.PROPORTIONAL;
import static io.kamille.perf.compare.Meter.USER;

import io.kamille.perf.host.JavaProcess;
import io.kamille.perf.load.Wrk;
import io.kamille.perf.load.WrkResult;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** CPU time per request of Kamille and other servers that do the same job. */
public final class RequestComparison {

  /*
   * All servers run at once on one core, and one at a time is under load from the other core, where
   * the origin runs too. The rounds go A B C, A B C, and ratios are taken within a round.
   *
   * CPU time per request is what counts: it moves by a few per cent where throughput in a closed
   * loop moves by half. Throughput and latency are those of a saturated server.
   */

  /** What can be chosen. */
  public static final Options OPTIONS = Session.options(7, 3, 64, Lineup.NAMES, List.of());

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure MICROS = Figure.of("micros");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure P999 = Figure.of("p999_micros");
  private static final Figure ALLOCATED = Figure.of("allocated_bytes");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);
  private static final Figure GARBAGE = ALLOCATED.per(REQUESTS);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU_PER_REQUEST, 2),
          Column.median("user", USER.per(REQUESTS), 2),
          Column.median("kernel", KERNEL.per(REQUESTS), 2),
          Column.ratio("÷ floor", CPU_PER_REQUEST, "floor"),
          Column.ratio("÷ haproxy", CPU_PER_REQUEST, "haproxy"),
          Column.ratio("÷ nginx", CPU_PER_REQUEST, "nginx"),
          Column.median("requests/s", REQUESTS.per(MICROS).times(1e6), 0),
          Column.median("p99 ms", P99.times(1e-3), 2),
          Column.median("MiB", PROPORTIONAL.times(1.0 / (1 << 20)), 0),
          Column.median("garbage B", GARBAGE, 0));

  private static final List<Goal> HIT_GOALS =
      List.of(
          cpu(Subject.HITS.getFirst(), "haproxy", 0.9),
          cpu(Subject.HITS.getFirst(), "nginx", 0.55),
          cpu(Subject.HITS.getFirst(), "floor", 1.25),
          cpu(Subject.HITS.getLast(), "nginx", 1.1),
          garbage(Subject.HITS.getFirst(), 200));

  private static final List<Goal> PASS_GOALS =
      List.of(
          cpu(Subject.PASSES.getFirst(), "haproxy", 1.3),
          cpu(Subject.PASSES.getFirst(), "nginx", 0.6));

  private static final List<Goal> DISK_GOALS = List.of(cpu(Subject.DISK.getFirst(), "nginx", 1.1));

  private static final List<Goal> CODED_GOALS =
      List.of(cpu(Subject.CODED.getLast(), "nginx", 0.55), garbage(Subject.CODED.getLast(), 200));

  private final Session session;
  private final Wrk wrk;

  private RequestComparison(Session session) throws IOException {
    this.session = session;
    this.wrk = Wrk.open(session.bench(), session.chosen().number("--connections"));
  }

  private static Goal cpu(Subject subject, String other, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%s at most %.2f × %s", subject.label(), limit, other),
        samples -> samples.ratio(CPU_PER_REQUEST, subject.label(), "kamille", other));
  }

  private static Goal garbage(Subject subject, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%s at most %.0f bytes of garbage", subject.label(), limit),
        samples -> samples.spread(GARBAGE, subject.label(), "kamille"));
  }

  /** Compares answers from the store. */
  public static void ofHits(Chosen chosen) throws IOException, InterruptedException {
    run(Subject.HITS, HIT_GOALS, chosen);
  }

  /** Compares answers from the store that are compressed for clients that take it. */
  public static void ofCoded(Chosen chosen) throws IOException, InterruptedException {
    run(Subject.CODED, CODED_GOALS, chosen);
  }

  /** Compares answers from files on a disk, which the kernel has in its memory. */
  public static void ofDisk(Chosen chosen) throws IOException, InterruptedException {
    run(Subject.DISK, DISK_GOALS, chosen);
  }

  /** Compares answers that come from the origin each time. */
  public static void ofPasses(Chosen chosen) throws IOException, InterruptedException {
    run(Subject.PASSES, PASS_GOALS, chosen);
  }

  private static void run(List<Subject> subjects, List<Goal> goals, Chosen chosen)
      throws IOException, InterruptedException {
    try (var session = Session.open(chosen)) {
      var comparison = new RequestComparison(session);
      int connections = chosen.number("--connections");
      var lineup = session.lineup(subjects.getFirst().job(), connections, List.of());
      session.fact(
          "run",
          "%d rounds of %d s, %d connections, closed loop, in turn",
          session.rounds(),
          session.seconds(),
          connections);
      session.begin();
      var samples = new Samples("subject");
      for (Subject subject : subjects) {
        lineup.forEach(server -> comparison.warm(server, subject));
        lineup.rounds(
            session.rounds(),
            samples,
            (server, round) -> comparison.measure(server, subject, round));
        session.print(samples.table(subject.label(), subject.label(), COLUMNS));
        Meter.noteDisturbance(session, samples.of(subject.label()));
      }
      session.print("Goals of kamille; multiples are of CPU time per request", goals, samples);
      session.keep(samples);
    }
  }

  private void warm(Contestant server, Subject subject) throws IOException, InterruptedException {
    server.prove(subject);
    load(server, subject, Math.min(server.peer().warmupSeconds(), session.loadSeconds()));
  }

  private WrkResult load(Contestant server, Subject subject, int seconds)
      throws IOException, InterruptedException {
    return wrk.run(server.port(), subject.path(), subject.coding(), seconds);
  }

  private Sample measure(Contestant server, Subject subject, int round)
      throws IOException, InterruptedException {
    long forwardedBefore = session.origin().requests();
    long allocatedBefore = allocatedBytes(server);
    var meter = Meter.start(server.process());
    WrkResult load = load(server, subject, session.seconds());
    var sample =
        meter.stop(
            Sample.of(subject.label(), server.name(), round)
                .with(REQUESTS, load.requests())
                .with(MICROS, load.micros()));
    check(server, subject, load, session.origin().requests() - forwardedBefore);
    return sample
        .with(P50, load.p50Micros())
        .with(P99, load.p99Micros())
        .with(P999, load.p999Micros())
        .with(ALLOCATED, allocatedBytes(server) - allocatedBefore);
  }

  private long allocatedBytes(Contestant server) throws IOException, InterruptedException {
    return server.peer().isJava()
        ? JavaProcess.allocatedBytes(session.bench(), server.process().pid())
        : 0;
  }

  private void check(Contestant server, Subject subject, WrkResult load, long forwarded)
      throws IOException {
    if (load.requests() == 0 || load.errors() > 0) {
      throw new IOException(
          server.name() + " failed " + load.errors() + " requests for " + subject.path());
    }
    boolean isRight =
        subject.job().isStoring()
            ? forwarded == 0
            : Math.abs(forwarded - load.requests()) <= session.chosen().number("--connections");
    if (!isRight) {
      throw new IOException(
          server.name() + " forwarded " + forwarded + " of " + load.requests() + " requests");
    }
  }
}
