package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Wrk;
import io.kamille.perf.load.WrkResult;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;

/** Paper P3: sockets of the host for a sandbox, beside a network in user space. */
final class SandboxNetworks implements Experiment {

  /*
   * Kamille is the guest. With all that its network needs, it has core 0; wrk and the origin have
   * core 1. What the guest's side costs is the CPU time of its processes together: slirp4netns and
   * Kamille's kernel do the protocol work twice, and the helper none once a socket is given.
   */

  /** How much, by scale. */
  private record Extent(int rounds, int seconds, int warmupSeconds) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK -> new Extent(3, 2, 4);
        case NORMAL -> new Extent(7, 4, Jvm.WARMUP_SECONDS);
        case FULL -> new Extent(15, 20, Jvm.WARMUP_SECONDS);
      };
    }
  }

  static final Paper PAPER =
      new Paper(
          "p3-network",
          "sockets of the host for a sandbox, beside a network in user space",
          "Nakagame and Ishikawa (Host networking for a guest, 2005) let the host do the protocol"
              + " work for a guest, where each packet had cost a signal and a second protocol"
              + " stack. What does a sandbox without interfaces cost a cache today, with sockets of"
              + " its host and with a user-space network over TAP?",
          List.of(
              "ping-pong of 4 octets: 146 µs on the host, 427 µs in the guest with a stack of its"
                  + " own, 264 µs with sockets of the host",
              "one-way bandwidth: 117 MB/s on the host, 31 MB/s in the guest, 71 MB/s with sockets"
                  + " of the host"));

  /** Where Kamille's network comes from. */
  private enum Way {
    HOST("the host itself"),
    HOST_SOCKETS("host sockets"),
    USER_SPACE("slirp4netns");

    private final String label;

    Way(String label) {
      this.label = label;
    }
  }

  /** How much is asked at once. */
  private enum Load {
    PING_PONG("one connection", 1),
    BURST("64 connections", 64);

    private final String label;
    private final int connections;

    Load(String label, int connections) {
      this.label = label;
      this.connections = connections;
    }
  }

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure MICROS = Figure.of("micros");
  private static final Figure BYTES = Figure.of("bytes");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure CPU = Figure.of("cpu_micros");
  private static final Figure CPU_PER_REQUEST = CPU.per(REQUESTS);
  private static final Figure RATE = REQUESTS.per(MICROS).times(1e6);

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU_PER_REQUEST, 1),
          Column.ratio("÷ the host itself", CPU_PER_REQUEST, Way.HOST.label),
          Column.median("p50 µs", P50, 0),
          Column.median("p99 µs", P99, 0),
          Column.median("requests/s", RATE, 0),
          Column.median("MB/s", BYTES.per(MICROS), 0));

  private static final Map<String, Integer> SIZES = Map.of("1 KiB", 1 << 10, "1 MiB", 1 << 20);
  private static final List<String> OBJECTS = List.of("1 KiB", "1 MiB");
  private static final int CONNECTIONS = 128;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Extent extent;
  private final Samples samples = new Samples("hit", "network");

  SandboxNetworks(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "Kamille with one loop answers from its memory: on the host, in a network namespace without"
            + " interfaces with sockets of kamille host-sockets, and in one with a TAP device that"
            + " slirp4netns serves (MTU 65,520, a forwarded port). Kamille and the process of its"
            + " network share core 0; wrk asks from core 1, in a closed loop. CPU time is that of"
            + " both processes. %d rounds of %d s, in turn.",
        extent.rounds(),
        extent.seconds());
  }

  @Override
  public int steps() {
    return Way.values().length + OBJECTS.size() * Load.values().length * extent.rounds();
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    if (Programs.find(SlirpNetwork.PROGRAM) == null) {
      throw new IOException(
          SlirpNetwork.PROGRAM
              + " is needed; install it with: apt-get install "
              + SlirpNetwork.PROGRAM);
    }
    try (var bench = Workbench.open()) {
      Origin origin = Origin.start(bench);
      Map<Way, Guest> guests = new EnumMap<>(Way.class);
      Wrk warming = Wrk.open(bench, Load.BURST.connections);
      for (Way way : Way.values()) {
        run.step("start and warm up: " + way.label);
        Guest guest = Guest.start(bench, way, origin.port());
        guests.put(way, guest);
        for (String object : OBJECTS) {
          warming.run(guest.port(), path(object), "", extent.warmupSeconds());
        }
      }
      for (String object : OBJECTS) {
        for (Load load : Load.values()) {
          Wrk wrk = Wrk.open(bench, load.connections);
          for (int round = 1; round <= extent.rounds(); round++) {
            run.step(situation(object, load) + ", round " + round);
            for (Entry<Way, Guest> guest : guests.entrySet()) {
              Sample sample =
                  Sample.of(situation(object, load), guest.getKey().label, round)
                      .withAll(sample(guest.getValue(), wrk, object, origin));
              run.keep("requests.csv", samples, sample);
            }
          }
        }
      }
    }
  }

  private static String path(String object) {
    return "/hit/" + SIZES.get(object);
  }

  private static String situation(String object, Load load) {
    return object + ", " + load.label;
  }

  private Sample sample(Guest guest, Wrk wrk, String object, Origin origin)
      throws IOException, InterruptedException {
    long forwardedBefore = origin.requests();
    long cpuBefore = guest.cpuMicros();
    WrkResult load = wrk.run(guest.port(), path(object), "", extent.seconds());
    long cpu = guest.cpuMicros() - cpuBefore;
    if (load.requests() == 0 || load.errors() > 0 || origin.requests() != forwardedBefore) {
      throw new IOException(
          object + ": " + load.errors() + " of " + load.requests() + " requests failed or missed");
    }
    return Sample.of("", "", 0)
        .with(REQUESTS, load.requests())
        .with(MICROS, load.micros())
        .with(BYTES, load.bytes())
        .with(P50, load.p50Micros())
        .with(P99, load.p99Micros())
        .with(CPU, cpu);
  }

  /** Kamille, and the process that has its network. */
  private record Guest(int port, List<Child> processes) {

    private static Guest start(Workbench bench, Way way, int originPort) throws IOException {
      Path directory = bench.directory(way.name());
      int port = Workbench.freePort();
      var place = new Place(Job.HIT, "127.0.0.1", port, originPort, CONNECTIONS, List.of());
      var kamille = new Kamille(Checkout.find());
      List<Child> processes =
          switch (way) {
            case HOST ->
                List.of(bench.start(way.name(), Core.SERVER, kamille.prepare(directory, place)));
            case HOST_SOCKETS -> withHostSockets(bench, kamille, directory, place);
            case USER_SPACE -> SlirpNetwork.start(bench, kamille, directory, place);
          };
      processes.getFirst().awaitListening(port, START_LIMIT);
      return new Guest(port, processes);
    }

    private static List<Child> withHostSockets(
        Workbench bench, Kamille kamille, Path directory, Place place) throws IOException {
      Path socket = directory.resolve("socket");
      List<String> command =
          kamille.with("host-sockets: '" + socket + "'\n").prepare(directory, place);
      Child helper =
          bench.start(
              "helper",
              Core.SERVER,
              List.of(
                  kamille.program().toString(),
                  "host-sockets",
                  "--socket=" + socket,
                  "--config=" + directory.resolve("kamille.yaml")));
      helper.awaitPrinted("sockets at", 1, START_LIMIT);
      return List.of(bench.start("guest", Core.SERVER, unshared(command)), helper);
    }

    private long cpuMicros() throws IOException {
      CpuTime sum = CpuTime.ZERO;
      for (Child process : processes) {
        sum = sum.plus(process.cpuTime());
      }
      return sum.userMicros() + sum.kernelMicros();
    }
  }

  /** The command in a network namespace without interfaces. */
  static List<String> unshared(List<String> command) {
    var words = new ArrayList<>(List.of("unshare", "--net"));
    words.addAll(command);
    return words;
  }

  @Override
  public void report(Report report) {
    for (String situation : samples.situations()) {
      report.heading(situation).table(samples.table("network", situation, COLUMNS));
    }
    report.heading("What holds today and what does not").items(findings());
  }

  /** Each sandbox against the host itself, by medians of ratios. */
  private List<String> findings() {
    var findings = new ArrayList<String>();
    for (String situation : samples.situations()) {
      for (Way way : List.of(Way.HOST_SOCKETS, Way.USER_SPACE)) {
        findings.add(
            String.format(
                Locale.ROOT,
                "%s, %s: %.2f × the CPU time of the host itself, %.2f × its requests/s, %.2f × its"
                    + " p50",
                situation,
                way.label,
                ratio(CPU_PER_REQUEST, situation, way),
                ratio(RATE, situation, way),
                ratio(P50, situation, way)));
      }
    }
    return findings;
  }

  private double ratio(Figure figure, String situation, Way way) {
    return samples
        .ratio(figure, situation, way.label, Way.HOST.label)
        .map(Spread::median)
        .orElse(Double.NaN);
  }
}
