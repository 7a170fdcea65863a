package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** P5: what delay and loss between clients and a server do to its reply rate and reply time. */
final class LossyPaths implements Experiment {

  /*
   * The emulator is started anew for each cell, with the same seed, and arrivals have the same seed
   * too: every server is asked at the same instants, and the n-th packet of each way is lost for
   * all of them or for none.
   */

  /** How long and how much, by scale. */
  private record Extent(List<LossyPath> paths, int countedSeconds, int warmingSeconds) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK -> {
          var paths = grid(SMALL, List.of(0, 100), List.of(0, 4), List.of(400));
          paths.addAll(grid(LARGE, List.of(0), List.of(0, 4), List.of(20)));
          yield new Extent(paths, 4, 6);
        }
        case NORMAL -> {
          var paths = grid(SMALL, RTTS, LOSSES, List.of(200, 400, 800, 1600, 2400));
          paths.addAll(grid(LARGE, RTTS, LOSSES, List.of(10, 20, 40)));
          yield new Extent(paths, 15, 15);
        }
        case FULL -> {
          var paths = grid(SMALL, RTTS, LOSSES, steps(400, 3200));
          paths.addAll(grid(LARGE, RTTS, LOSSES, steps(15, 120)));
          yield new Extent(paths, 60, 30);
        }
      };
    }

    private static List<LossyPath> grid(
        int bytes, List<Integer> roundTrips, List<Integer> losses, List<Integer> rates) {
      var paths = new ArrayList<LossyPath>();
      for (int roundTrip : roundTrips) {
        for (int rate : rates) {
          for (int loss : losses) {
            paths.add(new LossyPath(bytes, roundTrip, loss, rate));
          }
        }
      }
      return paths;
    }

    private static List<Integer> steps(int step, int last) {
      var rates = new ArrayList<Integer>();
      for (int rate = step; rate <= last; rate += step) {
        rates.add(rate);
      }
      return rates;
    }
  }

  static final Paper PAPER =
      new Paper(
          "p5",
          "long and lossy paths: object × round trip × loss × rate (as root)",
          "Shinozaki, Kawai, Yamaguchi and Yamamoto (2005) found that benchmarks on a clean"
              + " network mislead: at 4 % loss each way the reply rate of one server fell by 12 %,"
              + " of others by half or by most of it, and the best of them let its response time"
              + " explode once its processor was busy. What does Kamille keep of its reply rate,"
              + " beside others, and what becomes of its reply time?",
          List.of(
              "16 KB at 3,200 requests/s and 4 % loss: thttpd's reply rate falls by 72 % (round"
                  + " trip 0) and 89 % (100 ms), Apache's by 49 %, TUX's by 12 %",
              "TUX's reply time grows by 19 to 25 s more than the others' once its processor is at"
                  + " 100 %",
              "1 MB: all servers are alike, since the kernel's copying and checksums take most of"
                  + " the time"));

  private static final int SMALL = 16 << 10;
  private static final int LARGE = 1 << 20;
  private static final List<Integer> RTTS = List.of(0, 100);
  private static final List<Integer> LOSSES = List.of(0, 1, 4);
  private static final LossyPath WARMING = new LossyPath(SMALL, 0, 0, 1500);
  private static final LossyPath WARMING_LARGE = new LossyPath(LARGE, 0, 0, 20);
  private static final String CONGESTION_CONTROL = "cubic";
  private static final int CONNECTIONS = 6000;
  private static final long SEED = 5;
  private static final Duration QUICK_LIMIT = Duration.ofSeconds(10);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

  private final Extent extent;
  private final Duration timeLimit;
  private final Opponents opponents;
  private final LossyPoints points = new LossyPoints();

  /**
   * The experiment.
   *
   * @param against the other servers that are asked the same
   */
  LossyPaths(LabScale scale, List<String> against) {
    this.extent = Extent.of(scale);
    this.timeLimit = scale == LabScale.QUICK ? QUICK_LIMIT : TIME_LIMIT;
    this.opponents = new Opponents(against);
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "The server has one worker and core 0 for itself, in a network namespace of its own;"
            + " clients are in another, and a program of ours on core 1 carries the packets between"
            + " them (one link of 1 Gbit/s with a queue of 4 MB, delay of half the round trip each"
            + " way, independent losses each way; equal seeds). Clients, the origin and that"
            + " program share core 1, so TCP's work on what arrives is not on the server's core."
            + " Congestion control: %s. A connection for each request, Poisson arrivals, one"
            + " object, stored; up to %,d connections at once, %d s for a reply at most. Replies"
            + " are counted over %d s after those in which they become as many as asked for (3 s;"
            + " 40 s for 1 MB over a long path); ± is the standard deviation between seconds. Reply"
            + " time runs from the instant a request should have been sent to its last octet. Every"
            + " octet is compared.",
        CONGESTION_CONTROL,
        CONNECTIONS,
        timeLimit.toSeconds(),
        extent.countedSeconds());
  }

  @Override
  public int steps() {
    return 1 + (1 + opponents.wanted().size()) * (1 + extent.paths().size());
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var kamille = new Kamille(Checkout.find());
      warmClient(run, bench, spaces, kamille);
      measure(run, bench, spaces, kamille);
      for (Peer peer : opponents.wanted()) {
        if (Opponents.isPresent(peer, run)) {
          measure(run, bench, spaces, peer);
        }
      }
    }
  }

  /** The client and the emulator are Java, too: who is asked first must not meet them cold. */
  private void warmClient(LabRun run, Workbench bench, Namespaces spaces, Peer peer)
      throws IOException, InterruptedException {
    run.step("the client warms up");
    var nobody = new Opponents(List.of());
    try (var server = WanServer.start(bench, spaces, peer, nobody, CONNECTIONS)) {
      warm(spaces, server, peer);
    }
  }

  private void warm(Namespaces spaces, WanServer server, Peer peer)
      throws IOException, InterruptedException {
    run(spaces, server, peer, WARMING, Duration.ofSeconds(extent.warmingSeconds()));
    run(spaces, server, peer, WARMING_LARGE, Duration.ofSeconds(1));
  }

  private void measure(LabRun run, Workbench bench, Namespaces spaces, Peer peer)
      throws IOException, InterruptedException {
    run.step(peer.name() + ": start and warm up");
    try (var server = WanServer.start(bench, spaces, peer, opponents, CONNECTIONS)) {
      warm(spaces, server, peer);
      for (LossyPath path : extent.paths()) {
        run.step(
            String.format(
                Locale.ROOT,
                "%s: %s, %d %% loss, %,d requests/s",
                peer.name(),
                path.place(),
                path.lossPercent(),
                path.rate()));
        Duration duration = path.settling().plusSeconds(extent.countedSeconds());
        run.keep("points.csv", points.all(), run(spaces, server, peer, path, duration));
      }
    } catch (IOException failed) {
      if (peer instanceof Kamille) {
        throw failed;
      }
      run.note(peer.name() + " is left out from here on: " + failed.getMessage());
    }
  }

  private Sample run(
      Namespaces spaces, WanServer server, Peer peer, LossyPath path, Duration duration)
      throws IOException, InterruptedException {
    List<LinkSettings> links = List.of(LinkSettings.symmetric("path", path.link()));
    long droppedBefore = spaces.droppedByDevices();
    try (var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      CpuTime before = server.cpuTime();
      var load = spaces.callAtClient(() -> load(path, duration));
      CpuTime taken = server.cpuTime().minus(before);
      long dropped = spaces.droppedByDevices() - droppedBefore;
      return LossyPoints.sample(
          peer.name(),
          path,
          load.due(),
          load.replies(),
          load.result(),
          taken,
          wan.stats(),
          dropped);
    }
  }

  /** What the client saw. */
  private record Load(double due, LossyReplies replies, LoadResult result) {}

  private Load load(LossyPath path, Duration duration) throws IOException {
    var target = OriginTarget.of(path.objectBytes(), path.objectBytes());
    LoadRequest request = LoadRequest.get(WanServer.authority(), target);
    try (var client = LoadClient.open(settings())) {
      var replies = new LossyReplies(path.settling(), extent.countedSeconds(), System::nanoTime);
      LoadResult result =
          client.run(arrivals(path, duration), RequestSource.always(request), replies);
      return new Load(replies.duePerSecond(arrivals(path, duration)), replies, result);
    }
  }

  private static Arrivals arrivals(LossyPath path, Duration duration) {
    return Arrivals.poisson(RateSchedule.steady(path.rate(), duration), SEED);
  }

  private LoadSettings settings() {
    return new LoadSettings(
        WanServer.address(),
        CONNECTIONS,
        false,
        () -> 1,
        timeLimit,
        LoadSettings::offerCore,
        false,
        List.of());
  }

  @Override
  public void report(Report report) {
    points.report(report);
    opponents.report(report);
  }
}
