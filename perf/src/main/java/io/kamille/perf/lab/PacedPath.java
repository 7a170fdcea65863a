package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import io.kamille.perf.wan.WanStats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Kamille at the end of the paper's path, paced with several intervals. Confined. */
final class PacedPath {

  private static final String PATH = "delay=40ms loss=0.05%";
  private static final int CONNECTIONS = 500;
  private static final Duration TIME_LIMIT = Duration.ofSeconds(5);
  private static final int FILLING_RATE = 400;
  private static final long SEED = 1;
  private static final long LATE_LIMIT_NANOS = 2_000_000;

  private final PacedPolling.Extent extent;
  private final Workbench bench;
  private final Namespaces spaces;

  PacedPath(PacedPolling.Extent extent, Workbench bench, Namespaces spaces) {
    this.extent = extent;
    this.bench = bench;
    this.spaces = spaces;
  }

  /** All rates and rounds with one interval. */
  @SuppressWarnings("try") // the server only has to be there
  List<Sample> measure(int interval) throws IOException, InterruptedException {
    var kamille =
        Kamille.of(Checkout.find())
            .withCache(extent.threeQuarters())
            .withPacing(interval == 0 ? "off" : interval + "us");
    var links = List.of(LinkSettings.symmetric("path", PATH));
    try (var server = WanServer.start(bench, spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      return spaces.callAtClient(() -> load(wan, interval));
    }
  }

  private List<Sample> load(WanEmulator wan, int interval) throws IOException {
    var workload = new WebAxe4(WanServer.authority(), extent.workingSetBytes() / 4, 1, SEED);
    // Opened when they are needed: one after another, their handshakes would take most of the time.
    var settings =
        new LoadSettings(
            WanServer.address(),
            CONNECTIONS,
            false,
            WebAxe4.clientUses(SEED),
            TIME_LIMIT,
            LoadSettings::offerCore,
            false,
            List.of());
    var samples = new ArrayList<Sample>();
    try (var client = LoadClient.open(settings)) {
      for (int i = 1; !workload.isFilled(); i++) {
        client.run(FILLING_RATE, Duration.ofSeconds(1), i, workload.filling());
      }
      for (int rate : extent.pathRates()) {
        client.run(rate, Duration.ofSeconds(1), rate, workload);
        for (int round = 1; round <= extent.rounds(); round++) {
          LoadResult load = client.run(rate, extent.pathLoad(), rate * 100L + round, workload);
          WanStats stats = wan.stats();
          boolean isLate =
              stats.latenessP99Nanos() > LATE_LIMIT_NANOS || stats.unheld() + stats.refused() > 0;
          var sample = Sample.of(Integer.toString(rate), Integer.toString(interval), round);
          samples.add(PacedFigures.responses(sample, load, isLate));
        }
      }
    }
    return samples;
  }
}
