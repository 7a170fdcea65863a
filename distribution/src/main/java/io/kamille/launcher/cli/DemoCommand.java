package io.kamille.launcher.cli;

import io.kamille.admin.StateDirectory;
import io.kamille.core.setting.DurableFile;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Totals;
import io.kamille.launcher.configuration.ConfigurationOptions;
import io.kamille.launcher.demo.DemoFile;
import io.kamille.launcher.demo.DemoOrigin;
import io.kamille.launcher.demo.DemoVisitors;
import io.kamille.launcher.demo.SummaryLine;
import java.io.Console;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code kamille demo}: a small origin, the proxy in front of it, and a line that tells how it
 * does.
 */
@Command(name = "demo", description = "Run the proxy in front of a small site, to try it.")
final class DemoCommand extends Subcommand implements Callable<Integer> {

  private static final int USUAL_VISITS = 5;
  private static final int MOST_NODES = 9;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1:8080",
      description = "Where the proxy listens (default: ${DEFAULT-VALUE}).")
  private String listen = "";

  @Option(
      names = "--listen-tls",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1:8443",
      description =
          "Where it serves HTTPS, by a certificate made at start (default: ${DEFAULT-VALUE}).")
  private String listenTls = "";

  @Option(
      names = "--admin",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1:9090",
      description = "Where health, metrics and the API are served (default: ${DEFAULT-VALUE}).")
  private String admin = "";

  @Option(
      names = "--visitors",
      paramLabel = "RATE",
      description = "Requests per second to make up (default: 5 on a terminal, else none).")
  private @Nullable Integer visitors;

  @Option(
      names = "--cluster",
      paramLabel = "N",
      description =
          "Run N nodes as one cluster instead, each a process, at 127.0.0.1:8081 and the next"
              + " ports. N is odd.")
  private @Nullable Integer cluster;

  private final Path directory = StateDirectory.path().resolve("demo").toAbsolutePath();

  @Override
  public Integer call() throws Exception {
    if (!StateDirectory.isKnown()) {
      throw new CommandFailure(ExitCode.UNREADABLE, StateDirectory.UNKNOWN);
    }
    if (cluster != null) {
      runCluster(cluster);
      return ExitCode.OK;
    }
    SummaryLine summary = new SummaryLine(out(), isTerminal());
    CountDownLatch toldToStop = Running.stopSignal();
    try (FileChannel _ = alone();
        DemoOrigin origin = new DemoOrigin(summary::asked)) {
      // First without the file, because it tells problems by the names of the options.
      Running.accepted(
          ConfigurationOptions.parse(
              Map.of("--listen", listen, "--origin", origin.url(), "--admin", admin)),
          err());
      Path file = DemoFile.write(directory, listen, listenTls, origin.url(), admin, "");
      try (VersionedFile versions = new VersionedFile(file);
          Appliance appliance =
              Running.start(Running.accepted(versions.reading(), err()), versions::resources)) {
        welcome(appliance, origin);
        String site = "http://" + appliance.listening().getFirst();
        try (DemoVisitors visits = new DemoVisitors(site);
            ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
          visits.start(visitors());
          clock.scheduleAtFixedRate(() -> summary.show(appliance.totals()), 1, 1, TimeUnit.SECONDS);
          toldToStop.await();
          clock.shutdownNow();
        }
        summary.end();
        Totals totals = appliance.totals();
        appliance.drain();
        out()
            .println(
                totals.requests()
                    + " requests, "
                    + origin.requests()
                    + " of them asked the origin.");
        out().flush();
      }
    }
    return ExitCode.OK;
  }

  /** Keeps another demo from this directory, until it is closed or the process ends. */
  private FileChannel alone() throws IOException, CommandFailure {
    FileChannel own = DurableFile.open(directory.resolve("lock"));
    if (own.tryLock() == null) {
      own.close();
      throw new CommandFailure(
          ExitCode.UNAVAILABLE,
          "another demo runs in " + directory + " (STATE_DIRECTORY names another place)");
    }
    return own;
  }

  private void runCluster(int count) throws Exception {
    if (count < 1 || count > MOST_NODES || count % 2 == 0) {
      throw misuse("--cluster: " + count + " (expected: an odd number of 1–" + MOST_NODES + ")");
    }
    if (spec().commandLine().getParseResult().matchedOptions().size() > 1) {
      throw misuse("--cluster takes no other option");
    }
    SummaryLine lines = new SummaryLine(out(), false);
    CountDownLatch toldToStop = Running.stopSignal();
    Signals.on("HUP", toldToStop::countDown);
    Path kamille = Path.of(System.getProperty("kamille.home", ""), "bin", "kamille");
    Path files = Files.createTempDirectory("kamille-cluster");
    try (DemoOrigin origin = new DemoOrigin(lines::asked);
        ClusterDemo nodes = new ClusterDemo(kamille, files, lines::above)) {
      lines.above(count + " processes start, with their files in " + files + "; Ctrl-C ends them");
      nodes.start(count, origin.url());
      nodes.watch(toldToStop);
    }
  }

  private int visitors() {
    return visitors == null ? (isTerminal() ? USUAL_VISITS : 0) : visitors;
  }

  @SuppressWarnings("SystemConsoleNull") // it is null again in JDK 25 when output is redirected
  private static boolean isTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private void welcome(Appliance appliance, DemoOrigin origin) {
    String site = "http://" + appliance.listening().getFirst();
    String secure = "https://" + appliance.listening().get(1);
    out()
        .printf(
            Locale.ROOT,
            """

              the site, through Kamille   %1$s/
              by HTTPS, self-signed       %2$s/
            %3$s  the origin behind it        %4$s/
              its configuration           %5$s
              for the command line        --state %6$s

            Ask twice, and look at Cache-Status and Age:

              curl -i %1$s/about
              curl -i %1$s/slow
              curl -ik --http2 %2$s/about

            Ctrl-C stops it. What the origin is asked appears below.

            """,
            site,
            secure,
            appliance
                .signInLink()
                .map(link -> "  its pages, for a minute     " + link + "\n")
                .orElse(""),
            origin.url(),
            directory.resolve("kamille.yaml"),
            directory);
    out().flush();
  }
}
