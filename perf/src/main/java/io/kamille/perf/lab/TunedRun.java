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

  /** Jain's index of what clients got in parts of the mean of their kind. */
  static final Figure FAIRNESS = Figure.of("fairness");

  /** How late the emulator was at p99. */
  static final Figure LATE = Figure.of("late_micros");

  private static final Figure EMULATOR_CPU = Figure.of("emulator_cpu_share");

  /** Packets that were lost against the emulator's order. */
  private static final Figure LEFT_OUT = Figure.of("packets_left_out");

  /** Whether the figures say as much about the emulator as about the server. */
  static final Figure DISTURBED = Figure.of("disturbed");

  private static final long SEED = 4;
  private static final int OBJECT_BYTES = 4 << 20;
  private static final int CONNECTIONS = 8000;
  private static final double LATE_LIMIT_MICROS = 1000;
  private static final double CPU_LIMIT = 0.9;

  /** Octets a second, of one kind of client. */
  static Figure goodput(String kind) {
    return Figure.of("goodput_bytes of " + kind);
  }

  /** Clients behind links of several kinds. */
  static final class Crowd {
    private final List<String> kinds = new ArrayList<>();
    private final List<LinkSettings> links = new ArrayList<>();
    private final List<Fetcher> fetchers = new ArrayList<>();

    /**
     * Adds clients of a kind.
     *
     * @param links how many there are of that path
     * @param each how many clients are behind each
     * @param octetsPerSecond that each reads
     */
    Crowd with(String kind, String path, int links, int each, int octetsPerSecond) {
      kinds.add(kind);
      for (int i = 0; i < links; i++) {
        this.links.add(LinkSettings.symmetric(kind + i, path));
        for (int client = 1; client <= each; client++) {
          add(octetsPerSecond, client, Duration.ofMillis(2L * fetchers.size() % 1000));
        }
      }
      return this;
    }

    /** Adds one client behind a link that is there, that begins later. */
    Crowd later(String kind, int link, int client, Duration start) {
      kinds.add(kind);
      String local = Namespaces.address(link, client);
      fetchers.add(new Fetcher(kinds.size() - 1, local, Fetcher.UNLIMITED, start));
      return this;
    }

    /** Adds a link without clients. */
    Crowd link(String name, String path) {
      links.add(LinkSettings.symmetric(name, path));
      return this;
    }

    private void add(int octetsPerSecond, int client, Duration start) {
      String local = Namespaces.address(links.size(), client);
      fetchers.add(new Fetcher(kinds.size() - 1, local, octetsPerSecond, start));
    }

    private long octetsOf(int group, List<Long> octets) {
      long sum = 0;
      for (int i = 0; i < octets.size(); i++) {
        sum += fetchers.get(i).group() == group ? octets.get(i) : 0;
      }
      return sum;
    }

    private double fairness(List<Long> octets) {
      double sum = 0;
      double squares = 0;
      int n = 0;
      for (int i = 0; i < octets.size(); i++) {
        int group = fetchers.get(i).group();
        long ofKind = octetsOf(group, octets);
        long clients = fetchers.stream().filter(each -> each.group() == group).count();
        if (ofKind > 0) {
          double part = (double) octets.get(i) * clients / ofKind;
          sum += part;
          squares += part * part;
          n++;
        }
      }
      return squares == 0 ? 1 : sum * sum / (n * squares);
    }
  }

  /** With another time for each run. */
  TunedRun lasting(int settlingSeconds, int countedSeconds) {
    return new TunedRun(
        bench, spaces, Duration.ofSeconds(settlingSeconds), Duration.ofSeconds(countedSeconds));
  }

  /** Measures, and adds what came out to a sample. */
  Sample measure(Sample sample, BufferWay way, long budgetBytes, Crowd crowd)
      throws IOException, InterruptedException {
    return measure(sample, way, budgetBytes, crowd, new AllocationTrace());
  }

  /** The same with a trace of what those ways allow that have a budget. */
  Sample measure(Sample sample, BufferWay way, long budgetBytes, Crowd crowd, AllocationTrace trace)
      throws IOException, InterruptedException {
    var kamille =
        Kamille.of(Checkout.find())
            .with(way.settings(budgetBytes))
            .withMetrics(WanServer.ADMIN_PORT);
    try (var server = WanServer.start(bench, spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, crowd.links, WanEmulator.Options.seeded(SEED));
        Closing _ = decide(server, way, budgetBytes, trace)) {
      var target = OriginTarget.of(OBJECT_BYTES, OBJECT_BYTES);
      long droppedBefore = spaces.droppedByDevices();
      List<Long> octets =
          spaces.callAtClient(
              () -> {
                try (var clients =
                        PathClients.open(
                            WanServer.address(), WanServer.authority(), target, crowd.fetchers);
                    SendMemory memory = server.watchMemory(settling)) {
                  List<Long> fetched = clients.run(settling, counted);
                  sample.with(MEMORY, memory.meanBytes()).with(SIZES, memory.meanSizeBytes());
                  return fetched;
                }
              });
      long dropped = spaces.droppedByDevices() - droppedBefore;
      WanStats stats = wan.stats();
      double all = 0;
      for (int group = 0; group < crowd.kinds.size(); group++) {
        double goodput = (double) crowd.octetsOf(group, octets) / counted.toSeconds();
        sample.with(goodput(crowd.kinds.get(group)), goodput);
        all += goodput;
      }
      return withPath(
          sample
              .with(CLIENTS, crowd.fetchers.size())
              .with(GOODPUT, all)
              .with(FAIRNESS, crowd.fairness(octets)),
          stats,
          dropped);
    }
  }

  /** Adds how well the emulator kept time. Queues of paths may be full: those are the paths. */
  static Sample withPath(Sample sample, WanStats stats, long dropped) {
    double late = stats.latenessP99Nanos() / 1e3;
    boolean isDisturbed =
        late > LATE_LIMIT_MICROS
            || stats.cpuShare() > CPU_LIMIT
            || stats.unheld() + stats.refused() + dropped > 0;
    return sample
        .with(LATE, late)
        .with(EMULATOR_CPU, stats.cpuShare())
        .with(LEFT_OUT, stats.unheld() + stats.refused() + dropped)
        .with(DISTURBED, isDisturbed);
  }

  /** What decides from outside, or looks at what Kamille decides. */
  private static Closing decide(
      WanServer server, BufferWay way, long budgetBytes, AllocationTrace trace) {
    if (way.isFromOutside()) {
      return server.split(way, budgetBytes, trace)::close;
    }
    if (way != BufferWay.EQUATION) {
      return () -> {};
    }
    var looking = Thread.ofPlatform().start(() -> look(server, trace));
    return () -> SendBufferSplit.end(looking);
  }

  private static void look(WanServer server, AllocationTrace trace) {
    try {
      trace.follow(server);
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    } catch (IOException ended) {
      System.err.println("lab: " + ended.getMessage());
    }
  }

  /** Ends what decides or looks. */
  private interface Closing extends AutoCloseable {
    @Override
    void close();
  }
}
