package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import io.kamille.perf.wan.WanStats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;

/**
 * Crowds at servers that are tuned in some way, each server a process of its own.
 *
 * @param settling of each run, before what is counted
 */
record TunedRun(Workbench bench, Namespaces spaces, Duration settling, Duration counted) {

  /** All send buffers of the paper's server. */
  static final long PAPER_BUDGET = 512L << 10;

  static final Figure CLIENTS = Figure.of("clients");

  /** Octets a second, of all kinds of client together. */
  static final Figure GOODPUT = Figure.of("goodput_bytes");

  /** What the kernel held to send, mean, in octets. */
  static final Figure MEMORY = Figure.of("send_memory_bytes");

  /** Content that the kernel could hold, mean, in octets. */
  static final Figure SIZES = Figure.of("sizes_bytes");

  /** How late the emulator was at p99. */
  static final Figure LATE = Figure.of("late_micros");

  private static final Figure EMULATOR_CPU = Figure.of("emulator_cpu_share");

  /** Packets that were lost against the emulator's order. */
  private static final Figure DROPPED = Figure.of("packets_left_out");

  /** Whether the figures say as much about the emulator as about the server. */
  static final Figure DISTURBED = Figure.of("disturbed");

  /** Of the object that clients fetch. */
  static final int OBJECT_BYTES = 4 << 20;

  private static final long SEED = 4;
  private static final int CONNECTIONS = 8000;
  private static final double LATE_LIMIT_MICROS = 1000;
  private static final double CPU_LIMIT = 0.9;

  /** Octets a second, of one kind of client. */
  static Figure goodput(String kind) {
    return Figure.of("goodput_bytes of " + kind);
  }

  /** Clients behind paths. */
  interface Load {

    List<LinkSettings> links();

    /** Fetches for that time on the calling thread, and adds what came. */
    Sample run(Duration settling, Duration counted, Sample sample) throws IOException;
  }

  /** Clients of several kinds that fetch one object again and again. */
  static final class Crowd implements Load {
    private final int objectBytes;
    private final List<String> kinds = new ArrayList<>();
    private final List<LinkSettings> links = new ArrayList<>();
    private final List<Fetcher> fetchers = new ArrayList<>();

    Crowd(int objectBytes) {
      this.objectBytes = objectBytes;
    }

    /**
     * Adds clients of a kind, each at another time of the first second.
     *
     * @param each how many clients are behind each link of that path, at the most
     * @param octetsPerSecond that each reads
     */
    Crowd with(String kind, String path, int clients, int each, int octetsPerSecond) {
      for (int i = 0; i < clients; i++) {
        if (i % each == 0) {
          link(path);
        }
        String local = Namespaces.address(links.size(), i % each + 1);
        add(kind, local, octetsPerSecond, 2L * fetchers.size() % 1000);
      }
      return this;
    }

    /** Adds a link without clients. */
    Crowd link(String path) {
      links.add(LinkSettings.symmetric("link" + links.size(), path));
      return this;
    }

    /** Adds a client at an address that is there. */
    Crowd add(String kind, String local, int octetsPerSecond, long startMillis) {
      if (!kinds.contains(kind)) {
        kinds.add(kind);
      }
      Duration start = Duration.ofMillis(startMillis);
      fetchers.add(new Fetcher(kinds.indexOf(kind), local, octetsPerSecond, start));
      return this;
    }

    @Override
    public List<LinkSettings> links() {
      return links;
    }

    @Override
    public Sample run(Duration settling, Duration counted, Sample sample) throws IOException {
      var target = OriginTarget.of(objectBytes, objectBytes);
      try (var clients =
          PathClients.open(WanServer.address(), WanServer.authority(), target, fetchers)) {
        List<Long> octets = clients.run(settling, counted);
        double[] ofKinds = new double[kinds.size()];
        for (int i = 0; i < octets.size(); i++) {
          ofKinds[fetchers.get(i).group()] += octets.get(i);
        }
        for (int group = 0; group < ofKinds.length; group++) {
          sample.with(goodput(kinds.get(group)), ofKinds[group] / counted.toSeconds());
        }
        return sample
            .with(CLIENTS, fetchers.size())
            .with(GOODPUT, DoubleStream.of(ofKinds).sum() / counted.toSeconds());
      }
    }
  }

  /** With another time for each run. */
  TunedRun lasting(int settlingSeconds, int countedSeconds) {
    return new TunedRun(
        bench, spaces, Duration.ofSeconds(settlingSeconds), Duration.ofSeconds(countedSeconds));
  }

  /** Measures, and adds what came out to a sample. */
  Sample measure(Sample sample, BufferWay way, long budgetBytes, Load load, AllocationTrace trace)
      throws IOException, InterruptedException {
    var kamille =
        Kamille.of(Checkout.find())
            .with(way.settings(budgetBytes))
            .withMetrics(WanServer.ADMIN_PORT);
    try (var server = WanServer.start(bench, spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, load.links(), WanEmulator.Options.seeded(SEED));
        var _ = sampling(server, way, budgetBytes, trace);
        SendMemory memory = server.watchMemory(settling)) {
      long droppedBefore = spaces.droppedByDevices();
      spaces.callAtClient(() -> load.run(settling, counted, sample));
      sample.with(MEMORY, memory.meanBytes()).with(SIZES, memory.meanSizeBytes());
      // Queues of paths may be full: those are the paths.
      WanStats stats = wan.stats();
      long dropped = spaces.droppedByDevices() - droppedBefore + stats.unheld() + stats.refused();
      double late = stats.latenessP99Nanos() / 1e3;
      return sample
          .with(LATE, late)
          .with(EMULATOR_CPU, stats.cpuShare())
          .with(DROPPED, dropped)
          .with(DISTURBED, late > LATE_LIMIT_MICROS || stats.cpuShare() > CPU_LIMIT || dropped > 0);
    }
  }

  /** What decides from outside, or looks at what Kamille decides, until it is closed. */
  private static ScheduledExecutorService sampling(
      WanServer server, BufferWay way, long budgetBytes, AllocationTrace trace) {
    var timer = Executors.newSingleThreadScheduledExecutor();
    if (way.isFromOutside()) {
      timer.scheduleAtFixedRate(
          server.split(way, budgetBytes, trace)::sample, 1, 1, TimeUnit.SECONDS);
    } else if (way == BufferWay.EQUATION) {
      timer.scheduleAtFixedRate(() -> trace.sample(server), 1, 1, TimeUnit.SECONDS);
    }
    return timer;
  }
}
