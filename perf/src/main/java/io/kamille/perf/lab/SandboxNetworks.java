package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;

/** Paper P3: sockets of the host for a sandbox, beside a network in user space. */
@Command
final class SandboxNetworks extends Experiment {

  /** How much, by scale. */
  private record Extent(int rounds, int seconds, int warmupSeconds) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(3, 2, 4);
        case NORMAL -> new Extent(7, 4, Jvm.WARMUP_SECONDS);
        case FULL -> new Extent(15, 20, Jvm.WARMUP_SECONDS);
      };
    }
  }

  /** Where Kamille's network comes from. */
  private enum Way {
    HOST("the host itself"),
    HOST_SOCKETS("host sockets"),
    USER_SPACE(SLIRP);

    private final String label;

    Way(String label) {
      this.label = label;
    }
  }

  /** What is asked for. */
  private record Load(String label, int size, int connections) {}

  private static final List<Load> LOADS =
      List.of(
          new Load("1 KiB, one connection", 1 << 10, 1),
          new Load("1 KiB, 64 connections", 1 << 10, 64),
          new Load("1 MiB, one connection", 1 << 20, 1),
          new Load("1 MiB, 64 connections", 1 << 20, 64));

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
          Column.ratio("÷ the host itself", RATE, Way.HOST.label),
          Column.median("MB/s", BYTES.per(MICROS), 0));

  private static final String SLIRP = "slirp4netns";

  /** The host's loopback address, and the guest's own, as slirp4netns gives them. */
  private static final String HOST_ADDRESS = "10.0.2.2";

  private static final String GUEST_ADDRESS = "10.0.2.100";
  private static final int CONNECTIONS = 128;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Samples samples = new Samples("hit", "network");

  SandboxNetworks() {
    super("p3-network", "sockets of the host for a sandbox, beside a network in user space");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {extent.rounds(), extent.seconds()};
  }

  @Override
  void measure() throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    try (var bench = Workbench.open()) {
      Origin origin = Origin.start(bench);
      Map<Way, Guest> guests = new EnumMap<>(Way.class);
      for (Way way : Way.values()) {
        if (way == Way.USER_SPACE && Programs.find(SLIRP) == null) {
          note(SLIRP + " is left out; install it with: apt-get install " + SLIRP);
          continue;
        }
        step("start and warm up: %s", way.label);
        Guest guest = Guest.start(bench, way, origin.port());
        guests.put(way, guest);
        for (Load load : LOADS) {
          ask(bench, guest, load, extent.warmupSeconds() / 2);
        }
      }
      for (Load load : LOADS) {
        for (int round = 1; round <= extent.rounds(); round++) {
          step("%s, round %d", load.label(), round);
          for (var guest : guests.entrySet()) {
            var sample = Sample.of(load.label(), guest.getKey().label, round);
            keep("requests.csv", samples, measure(bench, guest.getValue(), load, origin, sample));
          }
        }
      }
    }
  }

  private static LoadProgram.Result ask(Workbench bench, Guest guest, Load load, int seconds)
      throws IOException, InterruptedException {
    return LoadProgram.wrk(bench, load.connections(), guest.port(), "/hit/" + load.size(), seconds);
  }

  private Sample measure(Workbench bench, Guest guest, Load load, Origin origin, Sample sample)
      throws IOException, InterruptedException {
    long forwardedBefore = origin.requests();
    long cpuBefore = guest.cpuMicros();
    LoadProgram.Result result = ask(bench, guest, load, Extent.of(scale()).seconds());
    long cpu = guest.cpuMicros() - cpuBefore;
    if (result.errors() > 0 || origin.requests() != forwardedBefore) {
      throw new IOException(load.label() + ": " + result.errors() + " requests failed or missed");
    }
    return sample
        .with(REQUESTS, result.requests())
        .with(MICROS, result.micros())
        .with(BYTES, result.bytes())
        .with(P50, result.p50Micros())
        .with(P99, result.p99Micros())
        .with(CPU, cpu);
  }

  /** Kamille, and the process that has its network. */
  private record Guest(int port, List<Child> processes) {

    private static Guest start(Workbench bench, Way way, int originPort) throws IOException {
      Path directory = bench.directory(way.name());
      int port = Workbench.freePort();
      var place = new Place(Job.HIT, port, originPort, CONNECTIONS);
      var kamille = Kamille.of(Checkout.find());
      List<Child> processes =
          switch (way) {
            case HOST ->
                List.of(bench.start(way.name(), Core.SERVER, kamille.prepare(directory, place)));
            case HOST_SOCKETS -> withHostSockets(bench, kamille, directory, place);
            case USER_SPACE -> withSlirp(bench, kamille, directory, place);
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

    /** slirp4netns listens on the place's port of the host. */
    private static List<Child> withSlirp(
        Workbench bench, Kamille kamille, Path directory, Place place) throws IOException {
      List<String> command = kamille.prepare(directory, place.at("0.0.0.0"));
      Path file = directory.resolve("kamille.yaml");
      Files.writeString(
          file,
          Files.readString(file).replace("http://127.0.0.1:", "http://" + HOST_ADDRESS + ":"));
      Child guest = bench.start("slirp-guest", Core.SERVER, unshared(command));
      guest.awaitPrinted("listening on", 1, START_LIMIT);
      Path api = directory.resolve("api");
      var words = new ArrayList<>(List.of(SLIRP, "--configure", "--mtu=65520"));
      words.addAll(List.of("--api-socket=" + api, Long.toString(guest.pid()), "tap0"));
      Child network = bench.start(SLIRP, Core.SERVER, words);
      forward(api, place.port());
      return List.of(guest, network);
    }

    /** The command in a network namespace without interfaces. */
    private static List<String> unshared(List<String> command) {
      var words = new ArrayList<>(List.of("unshare", "--net"));
      words.addAll(command);
      return words;
    }

    private static void forward(Path api, int port) throws IOException {
      String request =
          """
          {"execute": "add_hostfwd", "arguments": {"proto": "tcp", "host_addr": "127.0.0.1", \
          "host_port": PORT, "guest_addr": "GUEST", "guest_port": PORT}}
          """
              .replace("PORT", Integer.toString(port))
              .replace("GUEST", GUEST_ADDRESS);
      long deadline = System.nanoTime() + START_LIMIT.toNanos();
      while (Files.notExists(api) && System.nanoTime() - deadline < 0) {
        LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
      }
      try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
        channel.connect(UnixDomainSocketAddress.of(api));
        channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8)));
        channel.shutdownOutput();
        ByteBuffer answer = ByteBuffer.allocate(4096);
        channel.read(answer);
        String text = StandardCharsets.UTF_8.decode(answer.flip()).toString();
        if (!text.contains("\"id\"")) {
          throw new IOException(SLIRP + " forwards no port: " + text);
        }
      }
    }

    private long cpuMicros() throws IOException {
      CpuTime sum = CpuTime.ZERO;
      for (Child process : processes) {
        sum = sum.plus(process.cpuTime());
      }
      return sum.micros();
    }
  }

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/SandboxNetworks.java",
        "proxy-core/src/main/java/io/kamille/core/hostsocket");
  }

  @Override
  void report(Report report) {
    for (String situation : samples.situations()) {
      report.heading(situation).table(samples.table("network", situation, COLUMNS));
    }
  }
}
