package io.kamille.perf.compare;

import io.kamille.launcher.origin.ScriptedAnswer;
import io.kamille.launcher.origin.ScriptedOrigin;
import io.kamille.launcher.service.Upgrade;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** What clients notice of one upgrade after another, and how much of the cache is left. */
public final class UpgradeMeasurement {

  /*
   * Half of the requests share persistent connections, half have one each; latency counts from the
   * moment at which a request should have been sent. One client reads a large response slowly all
   * the while. A server may close a persistent connection between two requests (RFC 9112 §9.3.1),
   * so a request that met such an end before any octet of a response is sent again on a new
   * connection, and counted apart. HTTP/2 and tunnels: UpgradeVisitor. Requests go to many keys, so
   * that an empty cache shows: the origin counts what reaches it.
   */
  private static final String LARGE = "/large";
  private static final String ECHO = "/echo";
  private static final String KEY = "/small/";
  private static final int KEYS = 2000;
  private static final int FILL_RATE = 2000;
  private static final int CONNECTIONS = 64;
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** Two clients, the origin and the download share a core. */
  private static final long IDLE_NANOS = 50_000;

  private static final int LARGE_BYTES = 64 << 20;
  private static final Duration DOWNLOAD = Duration.ofSeconds(60);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  /** What can be chosen. */
  public static final Options OPTIONS =
      Options.none()
          .number("--upgrades", 20, 1, 1000, "how many upgrades follow each other")
          .number("--pause", 3, 0, 3600, "seconds between two of them")
          .flag("--keep-memory", "hand over what is stored in memory")
          .number("--rate", 5000, 100, 1_000_000, "requests each second, of both kinds together");

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:%PORT%', {address: '127.0.0.1:%TLS%', tls: self-signed}]
      upstreams: {site: {origins: ['http://127.0.0.1:%ORIGIN%']}}
      routes: [{upstream: site}]
      cache: {memory: {capacity: 256MiB}}
      upgrade: {keep-memory: %KEEP%}
      limits: {drain-deadline: 90s}
      log: {access: {enabled: off}}
      admin: {address: off}
      """;

  private final Session session;
  private final Path directory;
  private final int port = Workbench.freePort();
  private final int tlsPort = Workbench.freePort();
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final List<Long> upgradeMillis = new ArrayList<>();
  private final LongAdder forwarded = new LongAdder();
  private final LongAdder asked = new LongAdder();
  private int notUpgraded;

  private UpgradeMeasurement(Session session) throws IOException {
    this.session = session;
    directory = session.bench().directory("upgrade");
  }

  /** Measures and prints. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    try (var session = Session.open(chosen).loadFromHere()) {
      session.begin();
      var measurement = new UpgradeMeasurement(session);
      try (ScriptedOrigin origin =
          ScriptedOrigin.start(0, ScriptedOrigin.answering(measurement::answer))) {
        measurement.measure(chosen, origin.port());
      }
    }
  }

  private boolean answer(ScriptedOrigin.Request request, Socket connection) throws IOException {
    if (request.target().startsWith(KEY)) {
      forwarded.increment();
    }
    if (request.target().equals(ECHO)) {
      connection
          .getOutputStream()
          .write(UpgradeVisitor.SWITCHED.getBytes(StandardCharsets.US_ASCII));
      connection.getInputStream().transferTo(connection.getOutputStream());
      return false;
    }
    byte[] content = new byte[request.target().equals(LARGE) ? LARGE_BYTES : 1024];
    new ScriptedAnswer(200, List.of("Cache-Control: max-age=3600"), content)
        .send(request, connection);
    return !request.isLast();
  }

  private void measure(Chosen chosen, int originPort) throws IOException, InterruptedException {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            CONFIGURATION
                .replace("%PORT%", Integer.toString(port))
                .replace("%TLS%", Integer.toString(tlsPort))
                .replace("%KEEP%", chosen.has("--keep-memory") ? "on" : "off")
                .replace("%ORIGIN%", Integer.toString(originPort)));
    session
        .bench()
        .start(
            "upgrade-first",
            Workbench.Core.SERVER,
            List.of(
                "env",
                "RUNTIME_DIRECTORY=" + directory,
                "STATE_DIRECTORY=" + directory,
                session.checkout().kamille().toString(),
                "run",
                "--config",
                file.toString()))
        .awaitListening(port, START_LIMIT);
    Path control = directory.resolve("control");
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (Files.notExists(control) && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    var uri = URI.create("http://127.0.0.1:" + port + LARGE);
    var download = new Download(uri, LARGE_BYTES, DOWNLOAD);
    fill();
    hitRatio();
    double rate = chosen.number("--rate") / 2.0;
    var table =
        new Table("connections", "requests", "failed", "sent again", "p99.9 ms", "latest ms");
    try (var persistent = LoadClient.open(settings());
        var single = LoadClient.open(settings().withUsesPerConnection(1));
        var threads = Executors.newCachedThreadPool()) {
      Future<LoadResult> onPersistent = threads.submit(() -> ask(persistent, rate));
      Future<LoadResult> onSingle = threads.submit(() -> ask(single, rate));
      threads.execute(download);
      URI small = URI.create("https://127.0.0.1:" + tlsPort + "/small");
      var http2 = new UpgradeVisitor(isOver::get);
      var tunnel = new UpgradeVisitor(isOver::get);
      Future<?> onHttp2 = threads.submit(() -> visit(http2, small));
      Future<?> inTunnel = threads.submit(() -> tunnel.talk(port, ECHO));
      upgrade(control, chosen.number("--upgrades"), chosen.number("--pause"));
      isOver.set(true);
      table.row(row("persistent", persistent, onPersistent.get()));
      table.row(row("one for each request", single, onSingle.get()));
      onHttp2.get();
      inTunnel.get();
      table.row(http2.row("HTTP/2 over TLS"));
      table.row(tunnel.row("messages in tunnels"));
      System.out.print(http2.trouble() + tunnel.trouble());
    } catch (ExecutionException e) {
      throw new IOException("a client broke off: " + e.getCause(), e);
    }
    print(table, download);
  }

  private static @Nullable Void visit(UpgradeVisitor visitor, URI uri) throws IOException {
    visitor.askByHttp2(uri);
    return null;
  }

  private LoadSettings settings() {
    return LoadSettings.persistent(port, CONNECTIONS)
        .withTimeLimit(TIME_LIMIT)
        .withIdle(() -> LockSupport.parkNanos(IDLE_NANOS))
        .askingAgain();
  }

  private LoadResult ask(LoadClient client, double rate) throws IOException {
    return client.run(Arrivals.even(rate, isOver::get), keys());
  }

  /** All keys in turn. */
  private RequestSource keys() {
    LoadRequest[] requests = new LoadRequest[KEYS];
    for (int i = 0; i < KEYS; i++) {
      requests[i] = LoadRequest.get("a", KEY + i, new byte[1024]);
    }
    AtomicInteger next = new AtomicInteger();
    return () -> {
      asked.increment();
      return requests[next.getAndIncrement() % KEYS];
    };
  }

  /** Asks for every key once. */
  private void fill() throws IOException {
    AtomicInteger left = new AtomicInteger(2 * KEYS);
    try (var client = LoadClient.open(settings())) {
      client.run(Arrivals.even(FILL_RATE, () -> left.getAndDecrement() <= 0), keys());
    }
  }

  /** The part of the requests since the last call that did not reach the origin. */
  private double hitRatio() {
    long requests = asked.sumThenReset();
    return 1 - forwarded.sumThenReset() / (double) Math.max(1, requests);
  }

  private void upgrade(Path control, int upgrades, int pauseSeconds) {
    long last = 0;
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pauseSeconds));
    System.out.printf(Locale.ROOT, "hit ratio before: %.4f%n", hitRatio());
    for (int i = 0; i < upgrades; i++) {
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pauseSeconds));
      long begin = System.nanoTime();
      try {
        last = Upgrade.order(control);
        upgradeMillis.add((System.nanoTime() - begin) / 1_000_000);
      } catch (IOException failed) {
        notUpgraded++;
        System.out.println("not upgraded: " + failed.getMessage());
      }
    }
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pauseSeconds));
    System.out.printf(Locale.ROOT, "hit ratio meanwhile: %.4f%n", hitRatio());
    long process = last;
    session.bench().undo(() -> ProcessHandle.of(process).ifPresent(ProcessHandle::destroy));
  }

  private static List<String> row(String name, LoadClient client, LoadResult load) {
    return List.of(
        name,
        Long.toString(load.offered()),
        Long.toString(load.failed()),
        Long.toString(client.sentAgain()),
        String.format(Locale.ROOT, "%.1f", load.latencyMicros(99.9) / 1e3),
        String.format(Locale.ROOT, "%.1f", load.latencyMicros(100) / 1e3));
  }

  private void print(Table table, Download download) {
    session.print(table);
    System.out.printf(
        Locale.ROOT,
        "%nupgrades: %d done in at most %d ms each, %d failed; download of %d s: %s%n",
        upgradeMillis.size(),
        upgradeMillis.stream().mapToLong(Long::longValue).max().orElse(0),
        notUpgraded,
        DOWNLOAD.toSeconds(),
        download.outcome());
  }
}
