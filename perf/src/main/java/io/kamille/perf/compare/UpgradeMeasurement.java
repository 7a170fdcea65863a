package io.kamille.perf.compare;

import io.kamille.launcher.origin.ScriptedAnswer;
import io.kamille.launcher.origin.ScriptedOrigin;
import io.kamille.launcher.service.Upgrade;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** What clients notice of one upgrade after another, with a disk that changes hands each time. */
public final class UpgradeMeasurement {

  /*
   * Half of the requests share persistent connections, half have one each; latency counts from the
   * moment at which a request should have been sent. One client reads a large response slowly all
   * the while. A server may close a persistent connection between two requests (RFC 9112 §9.3.1), so
   * a request that met such an end before any octet of a response is sent again on a new connection,
   * and counted apart.
   */
  private static final int CLIENTS = 4;
  private static final int LARGE_BYTES = 64 << 20;
  private static final Duration DOWNLOAD = Duration.ofSeconds(60);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  /** What can be chosen. */
  public static final Options OPTIONS =
      Options.none()
          .number("--upgrades", 20, 1, 1000, "how many upgrades follow each other")
          .number("--pause", 3, 0, 3600, "seconds between two of them")
          .number("--rate", 5000, 100, 1_000_000, "requests each second, of both kinds together");

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:%PORT%']
      upstreams: {site: {origins: ['http://127.0.0.1:%ORIGIN%']}}
      routes: [{upstream: site}]
      cache: {memory: {capacity: 256MiB}, disk: {path: '%DISK%', capacity: 256MiB}}
      limits: {drain-deadline: 90s}
      log: {access: {enabled: off}}
      admin: {address: off}
      """;

  private final Session session;
  private final Path directory;
  private final int port = Workbench.freePort();
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final List<UpgradeClient> clients = new ArrayList<>();
  private final List<Long> upgradeMillis = new ArrayList<>();
  private int notUpgraded;

  private UpgradeMeasurement(Session session) throws IOException {
    this.session = session;
    directory = session.bench().directory("upgrade");
  }

  /** Measures and prints. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    try (var session = Session.open(chosen);
        ScriptedOrigin origin =
            ScriptedOrigin.start(0, ScriptedOrigin.answering(UpgradeMeasurement::answer))) {
      session.begin();
      new UpgradeMeasurement(session).measure(chosen, origin.port());
    }
  }

  private static boolean answer(ScriptedOrigin.Request request, Socket connection)
      throws IOException {
    byte[] content = new byte[request.target().equals(UpgradeClient.LARGE) ? LARGE_BYTES : 1024];
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
                .replace("%DISK%", directory.resolve("disk").toString())
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
    List<Thread> threads = startClients(chosen.number("--rate"));
    Download download = new Download(InetAddress.getLoopbackAddress(), port, LARGE_BYTES, DOWNLOAD);
    Thread downloading = Thread.ofPlatform().start(download);
    upgrade(control, chosen.number("--upgrades"), chosen.number("--pause"));
    isOver.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    downloading.join();
    print(download);
  }

  private List<Thread> startClients(int rate) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2 * CLIENTS; i++) {
      var client = new UpgradeClient(port, i < CLIENTS, rate / (2 * CLIENTS), isOver);
      clients.add(client);
      threads.add(Thread.ofPlatform().start(client));
    }
    return threads;
  }

  private void upgrade(Path control, int upgrades, int pauseSeconds) {
    long last = 0;
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
    long process = last;
    session.bench().undo(() -> ProcessHandle.of(process).ifPresent(ProcessHandle::destroy));
  }

  private void print(Download download) {
    var table =
        new Table("connections", "requests", "failed", "sent again", "p99.9 ms", "latest ms");
    row(table, "persistent", clients.subList(0, CLIENTS));
    row(table, "one for each request", clients.subList(CLIENTS, 2 * CLIENTS));
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

  private static void row(Table table, String name, List<UpgradeClient> clients) {
    var all = new Histogram(3);
    clients.forEach(client -> all.add(client.latencies()));
    table.row(
        List.of(
            name,
            Long.toString(all.getTotalCount()),
            Long.toString(clients.stream().mapToLong(UpgradeClient::failed).sum()),
            Long.toString(clients.stream().mapToLong(UpgradeClient::sentAgain).sum()),
            String.format(Locale.ROOT, "%.1f", all.getValueAtPercentile(99.9) / 1e6),
            String.format(Locale.ROOT, "%.1f", all.getMaxValue() / 1e6)));
  }
}
