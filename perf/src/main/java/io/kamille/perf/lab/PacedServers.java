package io.kamille.perf.lab;

import io.kamille.perf.compare.ChangingKamille;
import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.Responder;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Metrics;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Sample;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Servers of one kind, paced with several intervals, and their load. Confined. */
final class PacedServers implements AutoCloseable {

  /** What multiplexes the sockets. */
  enum Multiplexer {
    POLL("poll(2)"),
    /** As in the paper. */
    POLL_ZERO("poll(2), time-out 0"),
    EPOLL("epoll"),
    KAMILLE("Kamille");

    private final String text;

    Multiplexer(String text) {
      this.text = text;
    }
  }

  /** What is measured. */
  record Setting(Multiplexer kind, boolean isPersistent) {

    String label() {
      return kind.text + (isPersistent ? ", persistent" : ", non-persistent");
    }

    boolean isKamille() {
      return kind == Multiplexer.KAMILLE;
    }
  }

  /** Tells how many polls a server has made since its start, and the events they brought. */
  @FunctionalInterface
  private interface PollMeter {
    long[] read() throws IOException;
  }

  /** A server and its load. */
  private record Served(Child process, LoadClient client, PollMeter meter) {}

  private static final Duration SETTLING = Duration.ofMillis(300);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final int WARMING_RATE = 5000;
  private static final int FILLING_RATE = 1000;

  private final PacedPolling.Extent extent;
  private final Workbench bench;
  private final Setting setting;
  private final WebAxe4 workload;
  private final Map<Integer, Served> byInterval = new HashMap<>();
  private @Nullable ChangingKamille kamille;

  PacedServers(PacedPolling.Extent extent, Workbench bench, Setting setting) throws IOException {
    this.extent = extent;
    this.bench = bench;
    this.setting = setting;
    workload = new WebAxe4("127.0.0.1", extent.workingSetBytes(), setting.isKamille() ? 1 : 0, 1);
    if (setting.isKamille()) {
      startKamille();
    } else {
      startResponders();
    }
  }

  private void startKamille() throws IOException {
    int port = Workbench.freePort();
    var place = new Place(Job.MIX, port, Origin.start(bench).port(), extent.connections());
    var told =
        Kamille.of(Checkout.find())
            .withCache(extent.threeQuarters())
            .withMetrics(Workbench.freePort());
    ChangingKamille server = ChangingKamille.start(bench, told.withPacing("off"), place);
    kamille = server;
    var client = LoadClient.open(settings(port).onSharedCore());
    PollMeter meter =
        () -> {
          Metrics metrics = server.metrics();
          return new long[] {
            metrics.required("kamille_loop_polls_total"),
            metrics.required("kamille_loop_events_total")
          };
        };
    var served = new Served(server.process(), client, meter);
    extent.intervalsMicros().forEach(interval -> byInterval.put(interval, served));
  }

  /** One for each interval. */
  private void startResponders() throws IOException {
    boolean isPoll = setting.kind() == Multiplexer.POLL || setting.kind() == Multiplexer.POLL_ZERO;
    boolean isZero = setting.kind() == Multiplexer.POLL_ZERO;
    for (int interval : extent.intervalsMicros()) {
      int port = Workbench.freePort();
      List<String> options =
          List.of(
              Responder.POLL_OPTION,
              "-D" + Responder.TRANSPORT + "=" + (isPoll ? "nio" : "epoll"),
              "-D" + Responder.ZERO_TIMEOUT + "=" + (isZero && interval > 0),
              "-D" + Responder.INTERVAL + "=" + interval);
      Child process =
          bench.start(
              "responder-" + port, Core.SERVER, Jvm.command(Responder.class, options, port));
      process.awaitListening(port, START_LIMIT);
      byInterval.put(
          interval, new Served(process, LoadClient.open(settings(port)), () -> polls(port)));
    }
  }

  private static long[] polls(int port) throws IOException {
    try (var in = URI.create("http://127.0.0.1:" + port + "/polls").toURL().openStream()) {
      String[] counts = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ", -1);
      return new long[] {Long.parseLong(counts[0]), Long.parseLong(counts[1])};
    }
  }

  private LoadSettings settings(int port) {
    var settings = LoadSettings.persistent(port, extent.connections());
    return setting.isPersistent()
        ? settings.withUses(WebAxe4.clientUses(1))
        : settings.withUsesPerConnection(1);
  }

  /** The server with that interval, in force. */
  private Served paced(int intervalMicros) throws IOException, InterruptedException {
    if (kamille != null) {
      kamille.pace(intervalMicros == 0 ? "off" : intervalMicros + "us");
    }
    return Objects.requireNonNull(byInterval.get(intervalMicros));
  }

  /** Fills the store, and lets the machine code become what it will be. */
  void warm() throws IOException, InterruptedException {
    for (int i = 1; setting.isKamille() && !workload.isFilled(); i++) {
      paced(0).client().run(FILLING_RATE, Duration.ofSeconds(1), i, workload.filling());
    }
    while (!workload.isFilled()) {
      workload.filling().next();
    }
    int rate = Math.min(WARMING_RATE, extent.rates(setting).getLast());
    for (int interval : extent.intervalsMicros()) {
      paced(interval).client().run(rate, extent.warming(), interval, workload);
    }
  }

  /**
   * A run.
   *
   * @param left what the server has of its core, 0 to 1
   */
  Sample measure(int rate, int interval, int round, double left)
      throws IOException, InterruptedException {
    Served served = paced(interval);
    served.client().run(rate, SETTLING, round, workload);
    RunTime runBefore = served.process().runTime();
    CpuTime cpuBefore = served.process().cpuTime();
    long[] pollsBefore = served.meter().read();
    LoadResult load = served.client().run(rate, extent.load(), rate * 100L + round, workload);
    long[] polls = served.meter().read();
    CpuTime cpu = served.process().cpuTime().minus(cpuBefore);
    long ran = served.process().runTime().since(runBefore).ranNanos();
    return PacedFigures.responses(sample(rate, interval, round), load, false)
        .with(PacedFigures.CPU, ran / 1e3 / Math.max(1, load.completed()))
        .with(PacedFigures.CPU_SHARE, ran / left / load.nanos())
        .with(PacedFigures.KERNEL_SHARE, (double) cpu.kernelMicros() / Math.max(1, cpu.micros()))
        .with(PacedFigures.POLLS, (polls[0] - pollsBefore[0]) * 1e9 / load.nanos())
        .with(
            PacedFigures.EVENTS,
            (double) (polls[1] - pollsBefore[1]) / Math.max(1, polls[0] - pollsBefore[0]));
  }

  /** Takes samples of the kernel under that load. */
  Sample profile(int rate, int interval) throws IOException, InterruptedException {
    Served served = paced(interval);
    PollShare share = PollShare.start(bench, served.process().pid());
    served.client().run(rate, extent.load(), rate, workload);
    return sample(rate, interval, 1).with(PacedFigures.POLL_SHARE, share.stop(bench));
  }

  private static Sample sample(int rate, int interval, int round) {
    return Sample.of(Integer.toString(rate), Integer.toString(interval), round);
  }

  @Override
  public void close() throws IOException {
    for (Served served : byInterval.values().stream().distinct().toList()) {
      served.client().close();
      served.process().stop();
    }
  }
}
