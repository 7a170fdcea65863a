package io.kamille.perf.compare;

import static io.kamille.perf.compare.Meter.CPU;
import static io.kamille.perf.compare.Meter.KERNEL;
import static io.kamille.perf.compare.Meter.PROPORTIONAL;
import static io.kamille.perf.compare.Meter.USER;

import io.kamille.perf.load.H2load;
import io.kamille.perf.load.Handshakes;
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

/**
 * CPU time per stored response over TLS, in HTTP/2 and HTTP/1.1, and per handshake, of Kamille and
 * other servers.
 */
public final class SecureComparison {

  /*
   * As RequestComparison: all servers on one core, the load on the other, rounds in turn, ratios
   * within a round. The configurations are those of clear text, with one certificate of P-256 put
   * in. HAProxy's key has the scheme, so that a load begins with requests that fill the store.
   */
  private static final List<String> NAMES = List.of("kamille", "nginx", "haproxy", "h2o");

  /** What can be chosen. */
  public static final Options OPTIONS = Session.options(7, 3, 32, NAMES, List.of());

  private sealed interface Load {

    String label();

    int bytes();

    default String path() {
      return "/hit/" + bytes();
    }
  }

  /**
   * Requests on connections that stay.
   *
   * @param streams at a time on each connection; 0 for HTTP/1.1
   */
  private record Asking(String label, int bytes, int streams) implements Load {}

  /** A connection for each request, with a new session or that of the first. */
  private record Connecting(String label, boolean isResumed) implements Load {

    @Override
    public int bytes() {
      return 1 << 10;
    }
  }

  private static final Load MANY = new Asking("1 KiB hit, HTTP/2, 32 streams", 1 << 10, 32);
  private static final Load ONE = new Asking("1 KiB hit, HTTP/2, one stream", 1 << 10, 1);
  private static final Load SMALL = new Asking("1 KiB hit, HTTP/1.1 over TLS", 1 << 10, 0);
  private static final Load LARGE = new Asking("1 MiB hit, HTTP/1.1 over TLS", 1 << 20, 0);
  private static final Load FULL = new Connecting("full handshake, P-256, and a hit", false);
  private static final Load RESUMED = new Connecting("resumed handshake and a hit", true);

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU_PER_REQUEST, 2),
          Column.median("user", USER.per(REQUESTS), 2),
          Column.median("kernel", KERNEL.per(REQUESTS), 2),
          Column.ratio("÷ haproxy", CPU_PER_REQUEST, "haproxy"),
          Column.ratio("÷ nginx", CPU_PER_REQUEST, "nginx"),
          Column.ratio("÷ h2o", CPU_PER_REQUEST, "h2o"),
          Column.median("MiB", PROPORTIONAL.times(1.0 / (1 << 20)), 0));

  private static final List<Goal> H2_GOALS =
      List.of(
          cpu(MANY, "haproxy", 0.75),
          cpu(MANY, "nginx", 0.3),
          cpu(MANY, "h2o", 2.0),
          cpu(ONE, "haproxy", 1.0),
          Goal.atMost(
              1.1,
              "one stream at most 1.10 × HTTP/1.1 over TLS",
              samples -> samples.multiple(CPU_PER_REQUEST, "kamille", ONE.label(), SMALL.label())));

  private static final List<Goal> TLS_GOALS =
      List.of(
          cpu(SMALL, "haproxy", 0.9),
          cpu(LARGE, "haproxy", 0.9),
          cpu(LARGE, "nginx", 0.9),
          cpu(FULL, "haproxy", 1.1),
          cpu(RESUMED, "haproxy", 1.1));

  private final Session session;
  private final H2load h2load;
  private final List<Contestant> servers;

  private SecureComparison(Session session) throws IOException, InterruptedException {
    this.session = session;
    this.h2load = H2load.open(session.bench(), session.chosen().number("--connections"));
    this.servers = SecureServers.start(session);
  }

  private static Goal cpu(Load load, String other, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%s at most %.2f × %s", load.label(), limit, other),
        samples -> samples.ratio(CPU_PER_REQUEST, load.label(), "kamille", other));
  }

  /** Compares answers in HTTP/2. */
  public static void ofH2(Chosen chosen) throws IOException, InterruptedException {
    run(List.of(MANY, ONE, SMALL), H2_GOALS, chosen);
  }

  /** Compares answers in HTTP/1.1 over TLS, and handshakes. */
  public static void ofTls(Chosen chosen) throws IOException, InterruptedException {
    run(List.of(SMALL, LARGE, FULL, RESUMED), TLS_GOALS, chosen);
  }

  private static void run(List<Load> loads, List<Goal> goals, Chosen chosen)
      throws IOException, InterruptedException {
    try (var session = Session.open(chosen)) {
      var comparison = new SecureComparison(session);
      session.fact(
          "run",
          "%d rounds of %d s, %d connections, TLS 1.3 with AES-128-GCM, closed loop, in turn",
          session.rounds(),
          session.seconds(),
          chosen.number("--connections"));
      session.begin();
      var samples = new Samples("load");
      for (Load load : loads) {
        comparison.measure(load, samples);
        session.print(samples.table(load.label(), load.label(), COLUMNS));
        Meter.noteDisturbance(session, samples.of(load.label()));
      }
      session.print("Goals of kamille; multiples are of CPU time per request", goals, samples);
      session.keep(samples);
    }
  }

  // The measurement

  private void measure(Load load, Samples samples) throws IOException, InterruptedException {
    for (Contestant server : servers) {
      h2load.warm(server.port(), load.path(), load instanceof Asking some ? some.streams() : 0);
      ask(server, load, Math.min(server.peer().warmupSeconds(), session.loadSeconds()));
    }
    for (int round = 1; round <= session.rounds(); round++) {
      for (Contestant server : servers) {
        samples.add(measure(server, load, round));
      }
    }
  }

  private Sample measure(Contestant server, Load load, int round)
      throws IOException, InterruptedException {
    long forwardedBefore = session.origin().requests();
    var meter = Meter.start(server.process());
    long requests = ask(server, load, session.seconds());
    var sample = meter.stop(Sample.of(load.label(), server.name(), round).with(REQUESTS, requests));
    long forwarded = session.origin().requests() - forwardedBefore;
    if (forwarded != 0) {
      throw new IOException(server.name() + " forwarded " + forwarded + " requests");
    }
    return sample;
  }

  private long ask(Contestant server, Load load, int seconds)
      throws IOException, InterruptedException {
    if (load instanceof Connecting how) {
      return Handshakes.run(session.bench(), server.port(), load.path(), how.isResumed(), seconds);
    }
    int streams = ((Asking) load).streams();
    H2load.Result result = h2load.run(server.port(), load.path(), streams, seconds);
    if (result.requests() == 0 || result.failures() > 0) {
      throw new IOException(
          server.name() + " failed " + result.failures() + " requests for " + load.path());
    }
    return result.requests();
  }
}
