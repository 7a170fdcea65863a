package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Crowds at servers that are tuned in some way, each server a process of its own.
 *
 * @param settling of each run, before what is counted
 */
record TunedRun(Workbench bench, Namespaces spaces, Duration settling, Duration counted) {

  static final Figure CLIENTS = Figure.of("clients");

  /** Octets a second, of all kinds of client together. */
  static final Figure GOODPUT = Figure.of("goodput_bytes");

  /** What the kernel held to send, mean, in octets. */
  static final Figure MEMORY = Figure.of("send_memory_bytes");

  /** Jain's index of what clients got in parts of the mean of their kind. */
  static final Figure FAIRNESS = Figure.of("fairness");

  /** How late the emulator was at p99. */
  static final Figure LATE = Figure.of("late_micros");

  private static final Pattern ALLOCATION =
      Pattern.compile("\"number\":(\\d+).*?\"allocationBytes\":(\\d+)", Pattern.DOTALL);
  private static final long SEED = 4;
  private static final int OBJECT_BYTES = 4 << 20;
  private static final int CONNECTIONS = 8000;
  private static final double KIB = 1024;

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

    /** Adds one client behind the last link, that begins later. */
    Crowd later(String kind, int client, Duration start) {
      kinds.add(kind);
      add(Fetcher.UNLIMITED, client, start);
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

  /** What each connection is allowed over time, as the control plane tells it. Any thread. */
  static final class AllocationTrace {
    private final Map<Integer, List<Point>> byNumber = new TreeMap<>();

    /** Looks twice a second until it is interrupted. */
    void follow(WanServer server) throws IOException, InterruptedException {
      long begin = System.nanoTime();
      while (true) {
        Thread.sleep(500);
        try {
          add((System.nanoTime() - begin) / 1e9, server.ask("/v1/connections?limit=100"));
        } catch (IOException failed) {
          // The control plane listens a moment after the server does.
          if (!(failed.getCause() instanceof ConnectException)) {
            throw failed;
          }
        }
      }
    }

    /** Adds an answer of the control plane. */
    synchronized void add(double seconds, String answer) {
      Matcher connection = ALLOCATION.matcher(answer);
      while (connection.find()) {
        byNumber
            .computeIfAbsent(Integer.parseInt(connection.group(1)), _ -> new ArrayList<>())
            .add(new Point(seconds, Long.parseLong(connection.group(2)) / KIB));
      }
    }

    /** In KiB over seconds. */
    synchronized Map<Integer, List<Point>> lines() {
      return new TreeMap<>(byNumber);
    }
  }

  /** Measures, and adds what came out to a sample. */
  Sample measure(Sample sample, String settings, Crowd crowd)
      throws IOException, InterruptedException {
    return measure(sample, settings, crowd, new AllocationTrace());
  }

  /** The same with a trace. */
  Sample measure(Sample sample, String settings, Crowd crowd, AllocationTrace trace)
      throws IOException, InterruptedException {
    var kamille = Kamille.of(Checkout.find()).with(settings).withMetrics(WanServer.ADMIN_PORT);
    try (var server = WanServer.start(bench, spaces, kamille, CONNECTIONS);
        var wan = WanEmulator.start(spaces, crowd.links, WanEmulator.Options.seeded(SEED))) {
      var looking = Thread.ofPlatform().start(() -> look(server, trace));
      var target = OriginTarget.of(OBJECT_BYTES, OBJECT_BYTES);
      List<Long> octets =
          spaces.callAtClient(
              () -> {
                try (var clients =
                        PathClients.open(
                            WanServer.address(), WanServer.authority(), target, crowd.fetchers);
                    SendMemory memory = server.watchMemory(settling)) {
                  List<Long> fetched = clients.run(settling, counted);
                  sample.with(MEMORY, memory.meanBytes());
                  return fetched;
                }
              });
      looking.interrupt();
      looking.join();
      double all = 0;
      for (int group = 0; group < crowd.kinds.size(); group++) {
        double goodput = (double) crowd.octetsOf(group, octets) / counted.toSeconds();
        sample.with(goodput(crowd.kinds.get(group)), goodput);
        all += goodput;
      }
      return sample
          .with(CLIENTS, crowd.fetchers.size())
          .with(GOODPUT, all)
          .with(FAIRNESS, crowd.fairness(octets))
          .with(LATE, wan.stats().latenessP99Nanos() / 1e3);
    }
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
}
