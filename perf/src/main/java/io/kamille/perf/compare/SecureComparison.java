package io.kamille.perf.compare;

import static io.kamille.perf.compare.Meter.CPU;
import static io.kamille.perf.compare.Meter.KERNEL;
import static io.kamille.perf.compare.Meter.PROPORTIONAL;
import static io.kamille.perf.compare.Meter.USER;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.H2load;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
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

/** CPU time per stored response over TLS, in HTTP/2 and HTTP/1.1, of Kamille and other servers. */
public final class SecureComparison {

  /*
   * As RequestComparison: all servers on one core, the load on the other, rounds in turn, ratios
   * within a round. The configurations are those of clear text, with one certificate of P-256 put in.
   */
  private static final List<String> NAMES = List.of("kamille", "nginx", "haproxy");

  /** What can be chosen. */
  public static final Options OPTIONS = Session.options(7, 3, 32, NAMES, List.of());

  /**
   * What the servers are asked for.
   *
   * @param streams at a time on each connection; 0 for HTTP/1.1
   */
  private record Load(String label, int bytes, int streams) {

    String path() {
      return "/hit/" + bytes;
    }
  }

  private static final Load MANY = new Load("1 KiB hit, HTTP/2, 32 streams", 1 << 10, 32);
  private static final Load ONE = new Load("1 KiB hit, HTTP/2, one stream", 1 << 10, 1);
  private static final Load SMALL = new Load("1 KiB hit, HTTP/1.1 over TLS", 1 << 10, 0);
  private static final Load LARGE = new Load("1 MiB hit, HTTP/1.1 over TLS", 1 << 20, 0);

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU_PER_REQUEST, 2),
          Column.median("user", USER.per(REQUESTS), 2),
          Column.median("kernel", KERNEL.per(REQUESTS), 2),
          Column.ratio("÷ haproxy", CPU_PER_REQUEST, "haproxy"),
          Column.ratio("÷ nginx", CPU_PER_REQUEST, "nginx"),
          Column.median("MiB", PROPORTIONAL.times(1.0 / (1 << 20)), 0));

  private static final List<Goal> H2_GOALS =
      List.of(cpu(MANY, "haproxy", 0.75), cpu(MANY, "nginx", 0.3), cpu(ONE, "haproxy", 1.0));

  private static final List<Goal> TLS_GOALS =
      List.of(cpu(SMALL, "haproxy", 0.9), cpu(LARGE, "haproxy", 0.9), cpu(LARGE, "nginx", 0.9));

  private final Session session;
  private final H2load h2load;
  private final Path chain;
  private final Path key;
  private final List<Contestant> servers = new ArrayList<>();

  private SecureComparison(Session session) throws IOException, InterruptedException {
    this.session = session;
    this.h2load = H2load.open(session.bench(), session.chosen().number("--connections"));
    Path directory = session.bench().directory("tls");
    this.chain = directory.resolve("chain.pem");
    this.key = directory.resolve("key.pem");
    makeCertificate();
  }

  private static Goal cpu(Load load, String other, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%s at most %.2f × %s", load.label(), limit, other),
        samples -> samples.ratio(CPU_PER_REQUEST, load.label(), "kamille", other));
  }

  /** Compares answers in HTTP/2. */
  public static void ofH2(Chosen chosen) throws IOException, InterruptedException {
    run(List.of(MANY, ONE), H2_GOALS, chosen);
  }

  /** Compares answers in HTTP/1.1 over TLS. */
  public static void ofTls(Chosen chosen) throws IOException, InterruptedException {
    run(List.of(SMALL, LARGE), TLS_GOALS, chosen);
  }

  private static void run(List<Load> loads, List<Goal> goals, Chosen chosen)
      throws IOException, InterruptedException {
    try (var session = Session.open(chosen)) {
      var comparison = new SecureComparison(session);
      comparison.start();
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

  // The servers

  private void makeCertificate() throws IOException, InterruptedException {
    if (Programs.find("openssl") == null) {
      throw new IOException("openssl is needed; install it with: apt-get install openssl");
    }
    String[] words = {
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      key.toString(),
      "-out",
      chain.toString(),
      "-days",
      "2",
      "-subj",
      "/CN=localhost"
    };
    session.bench().run(Workbench.Core.OTHERS, List.of(words));
  }

  private void start() throws IOException {
    int connections = session.chosen().number("--connections");
    for (Peer peer : List.of(new Kamille(session.checkout()), new Nginx(), new Haproxy())) {
      if (!session.isWanted(peer.name())) {
        continue;
      }
      String missing = peer.missing();
      if (missing != null) {
        System.out.println("left out: " + missing);
        continue;
      }
      int port = Workbench.freePort();
      var place = new Place(Job.HIT, port, session.origin().port(), connections, List.of());
      servers.add(
          Contestant.start(
              session.bench(),
              peer,
              place,
              (started, directory, command) -> secure(started, directory, port)));
      session.fact(peer.name(), "%s", peer.version());
    }
  }

  /** Puts the certificate into the configuration that stands there. */
  private void secure(Peer peer, Path directory, int port) throws IOException {
    String address = "127.0.0.1:" + port;
    switch (peer) {
      case Kamille _ ->
          replace(
              directory.resolve("kamille.yaml"),
              "address: " + address,
              "address: " + address + "\n    tls: {certificates: [{chain: %s, key: %s}]}");
      case Nginx _ ->
          replace(
              directory.resolve("nginx.conf"),
              "listen " + address,
              "ssl_certificate %s; ssl_certificate_key %s; listen " + address + " ssl http2");
      default -> {
        Path both = directory.resolve("both.pem");
        Files.writeString(both, Files.readString(chain) + Files.readString(key));
        replace(
            directory.resolve("haproxy.cfg"),
            "bind " + address,
            "bind " + address + " ssl crt " + both + " alpn h2,http/1.1");
      }
    }
  }

  private void replace(Path file, String plain, String secure) throws IOException {
    String text = Files.readString(file);
    if (!text.contains(plain)) {
      throw new IOException(file + ": no " + plain);
    }
    Files.writeString(file, text.replace(plain, String.format(Locale.ROOT, secure, chain, key)));
  }

  // The measurement

  private void measure(Load load, Samples samples) throws IOException, InterruptedException {
    for (Contestant server : servers) {
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
    H2load.Result result = h2load.run(server.port(), load.path(), load.streams(), seconds);
    if (result.requests() == 0 || result.failures() > 0) {
      throw new IOException(
          server.name() + " failed " + result.failures() + " requests for " + load.path());
    }
    return result.requests();
  }
}
