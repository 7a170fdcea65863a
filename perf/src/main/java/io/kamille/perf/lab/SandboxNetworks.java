package io.kamille.perf.lab;

import io.kamille.core.hostsocket.AllowedAddresses;
import io.kamille.core.hostsocket.HostSocketServer;
import io.kamille.core.setting.HostPort;
import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** Paper P3: sockets of the host for a sandbox, beside a network in user space. */
@Command
final class SandboxNetworks extends Experiment {

  /** How much, by scale. */
  private record Extent(int rounds, int seconds, int warmupSeconds, Duration burst, int trips) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(3, 1, 2, Duration.ofMillis(150), 2000);
        case NORMAL -> new Extent(5, 4, Jvm.WARMUP_SECONDS, Duration.ofMillis(300), 5000);
        case FULL -> new Extent(15, 20, Jvm.WARMUP_SECONDS, Duration.ofSeconds(4), 200_000);
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

  // Of bursts and round trips

  private static final List<Integer> BUFFERS =
      List.of(512, 1024, 2048, 4096, 8192, 12_000, 16_384, 32_768, 65_536);
  private static final List<Integer> WAITS = List.of(0, 200, 4000);
  private static final int JIFFY = 4000;
  private static final String LARGEST = "65536";
  private static final String TRIP = "round trip of four octets";

  private static final Figure BANDWIDTH = BYTES.per(CoreMeter.NANOS).times(1000);
  private static final Figure TRIPS = Figure.of("trips");
  private static final Duration TRIPS_LIMIT = Duration.ofSeconds(5);

  private static final List<Column> BURST_COLUMNS =
      List.of(
          Column.spread("MB/s", BANDWIDTH, 0),
          Column.ratio("÷ the host itself", BANDWIDTH, wayAndWait(Way.HOST, 0)),
          Column.median("CPU µs/MiB", CoreMeter.RAN.per(BYTES).times((1 << 20) / 1e3), 0));
  private static final List<Column> TRIP_COLUMNS =
      List.of(
          Column.spread("p50 µs", P50, 1),
          Column.ratio("÷ the host itself", P50, wayAndWait(Way.HOST, 0)),
          Column.spread("p99 µs", P99, 1),
          Column.median("CPU µs/trip", CoreMeter.RAN.per(TRIPS).times(1e-3), 1));

  private static final String SLIRP = "slirp4netns";

  /** The host's loopback address, and the guest's own, as slirp4netns gives them. */
  private static final String HOST_ADDRESS = "10.0.2.2";

  private static final String GUEST_ADDRESS = "10.0.2.100";
  private static final String LOOPBACK = "127.0.0.1";
  private static final int NOBODY = -1;
  private static final int CONNECTIONS = 128;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Samples samples = new Samples("hit", "network");
  private final Samples bursts = new Samples("buffer_bytes", "network");
  private final Samples trips = new Samples("situation", "network");

  SandboxNetworks() {
    super("p3-network", "sockets of the host for a sandbox, beside a network in user space");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {extent.rounds(), extent.seconds(), extent.burst().toMillis()};
  }

  @Override
  void measure() throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    try (var bench = Workbench.open()) {
      Origin origin = Origin.start(bench);
      Map<Way, Guest> guests = new EnumMap<>(Way.class);
      for (Way way : Way.values()) {
        if (way == Way.USER_SPACE && Programs.find(SLIRP) == null) {
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
    // Last: it keeps this process to one core, and a bench needs two.
    measureSinks();
  }

  // Bursts and round trips

  private void measureSinks() throws IOException, InterruptedException {
    if (Programs.find(SLIRP) == null) {
      note(SLIRP + " is left out; install it with: apt-get install " + SLIRP);
    }
    try (var bench = Workbench.open()) {
      bench.moveTo(Core.OTHERS);
      Map<String, Guest> sinks = new LinkedHashMap<>();
      for (Way way : Way.values()) {
        for (int wait : WAITS) {
          if (way != Way.USER_SPACE || Programs.find(SLIRP) != null) {
            step("start and warm up: %s", wayAndWait(way, wait));
            sinks.put(wayAndWait(way, wait), Guest.sink(bench, way, wait));
          }
        }
      }
      for (int round = 0; round <= Extent.of(scale()).rounds(); round++) {
        step("bursts and round trips, round %d", round);
        for (var sink : sinks.entrySet()) {
          measureSink(sink.getKey(), sink.getValue(), round);
        }
      }
    }
  }

  private static String wayAndWait(Way way, int waitMicros) {
    return way.label + (waitMicros == 0 ? "" : ", waits " + waitMicros + " µs");
  }

  /** The first round only warms up. */
  private void measureSink(String label, Guest sink, int round) throws IOException {
    Extent extent = Extent.of(scale());
    for (int size : BUFFERS) {
      var sample = Sample.of(Integer.toString(size), label, round);
      try (var channel = BurstSink.connect(sink.address(), size)) {
        var meter = CoreMeter.start(sink.processes());
        ByteBuffer buffer = ByteBuffer.allocateDirect(size);
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < extent.burst().toNanos()) {
          buffer.clear();
          while (buffer.hasRemaining()) {
            channel.write(buffer);
          }
        }
        meter.stop(sample.with(BYTES, BurstSink.end(channel)));
      }
      if (round > 0) {
        keep("bursts.csv", bursts, sample);
      }
    }
    try (var channel = BurstSink.echo(sink.address())) {
      BusyWait.play(channel, extent.trips(), 0, Duration.ofMillis(500));
      var meter = CoreMeter.start(sink.processes());
      Histogram times = BusyWait.play(channel, extent.trips(), 0, TRIPS_LIMIT);
      var sample =
          Sample.of(TRIP, label, round)
              .with(TRIPS, times.getTotalCount())
              .with(P50, times.getValueAtPercentile(50) / 1e3)
              .with(P99, times.getValueAtPercentile(99) / 1e3);
      meter.stop(sample);
      if (round > 0) {
        keep("trips.csv", trips, sample);
      }
    }
  }

  // Hits

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

  /** Kamille or a sink, and the process that has its network. */
  private record Guest(int port, List<Child> processes) {

    private static Guest sink(Workbench bench, Way way, int waitMicros) throws IOException {
      int port = Workbench.freePort();
      String name = way.name() + "-sink-" + waitMicros;
      Path directory = bench.directory(name);
      String host = way == Way.USER_SPACE ? "0.0.0.0" : LOOPBACK;
      var arguments = new ArrayList<>(List.of(host, Integer.toString(port)));
      if (way == Way.HOST_SOCKETS) {
        Path helper = directory.resolve("socket");
        arguments.add(helper.toString());
        var allowed = AllowedAddresses.of(List.of(new HostPort(LOOPBACK, port)), List.of());
        bench.undo(allowed);
        bench.undo(HostSocketServer.open(helper, NOBODY, allowed));
      }
      List<String> options = List.of("-D" + Responder.SPIN + "=" + waitMicros);
      List<String> command = Jvm.command(BurstSink.class, options, arguments);
      Child sink = bench.start(name, Core.SERVER, way == Way.HOST ? command : unshared(command));
      sink.awaitPrinted(BurstSink.LISTENS, 1, START_LIMIT);
      return way == Way.USER_SPACE
          ? new Guest(port, List.of(sink, slirp(bench, sink, directory, port)))
          : new Guest(port, List.of(sink));
    }

    private InetSocketAddress address() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static Guest start(Workbench bench, Way way, int originPort) throws IOException {
      Path directory = bench.directory(way.name());
      int port = Workbench.freePort();
      var place = new Place(Job.HIT, port, originPort, CONNECTIONS);
      var kamille = Kamille.of(Checkout.find());
      List<Child> processes =
          switch (way) {
            case HOST ->
                List.of(bench.start(way.name(), Core.SERVER, prepared(kamille, directory, place)));
            case HOST_SOCKETS -> withHostSockets(bench, kamille, directory, place);
            case USER_SPACE -> withSlirp(bench, kamille, directory, place);
          };
      processes.getFirst().awaitListening(port, START_LIMIT);
      return new Guest(port, processes);
    }

    /** Several run at a time, so each has a state directory of its own. */
    private static List<String> prepared(Kamille kamille, Path directory, Place place)
        throws IOException {
      var words = new ArrayList<>(List.of("env", "STATE_DIRECTORY=" + directory));
      words.addAll(kamille.prepare(directory, place));
      return words;
    }

    private static List<Child> withHostSockets(
        Workbench bench, Kamille kamille, Path directory, Place place) throws IOException {
      Path socket = directory.resolve("socket");
      List<String> command =
          prepared(kamille.with("host-sockets: '" + socket + "'\n"), directory, place);
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
      List<String> command = prepared(kamille, directory, place.at("0.0.0.0"));
      Path file = directory.resolve("kamille.yaml");
      Files.writeString(
          file,
          Files.readString(file).replace("http://127.0.0.1:", "http://" + HOST_ADDRESS + ":"));
      Child guest = bench.start("slirp-guest", Core.SERVER, unshared(command));
      guest.awaitPrinted("listening on", 1, START_LIMIT);
      return List.of(guest, slirp(bench, guest, directory, place.port()));
    }

    private static Child slirp(Workbench bench, Child guest, Path directory, int port)
        throws IOException {
      Path api = directory.resolve("api");
      var words = new ArrayList<>(List.of(SLIRP, "--configure", "--mtu=65520"));
      words.addAll(List.of("--api-socket=" + api, Long.toString(guest.pid()), "tap0"));
      Child network = bench.start(SLIRP + port, Core.SERVER, words);
      forward(api, port);
      return network;
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
    Samples good = CoreMeter.undisturbed(bursts);
    String sockets = wayAndWait(Way.HOST_SOCKETS, 0);
    String waiting = wayAndWait(Way.HOST_SOCKETS, JIFFY);
    String userSpace = wayAndWait(Way.USER_SPACE, 0);
    return List.of(
        Finding.atLeast(
            "host sockets with a busy wait carry 3.77 times the guest's own network (117 of 31"
                + " MB/s)",
            good.ratio(BANDWIDTH, LARGEST, waiting, userSpace),
            3.77,
            1.2),
        Finding.atLeast(
            "they carry what the host carries (117 MB/s)",
            good.ratio(BANDWIDTH, LARGEST, waiting, wayAndWait(Way.HOST, 0)),
            0.95,
            0.8),
        Finding.atLeast(
            "a busy wait gives them 1.65 times the bandwidth (117 of 71 MB/s)",
            good.ratio(BANDWIDTH, LARGEST, waiting, sockets),
            1.65,
            1.05),
        Finding.atLeast(
            "without a busy wait, they carry less above buffers of 12,000 octets",
            good.multiple(BANDWIDTH, sockets, "12000", LARGEST),
            1.1,
            1.03),
        Finding.atLeast(
            "a round trip by the guest's own network takes 2.08 times as long (427 of 205 µs)",
            CoreMeter.undisturbed(trips).ratio(P50, TRIP, userSpace, waiting),
            2.08,
            1.1));
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/SandboxNetworks.java",
        "perf/src/main/java/io/kamille/perf/lab/BurstSink.java",
        "perf/src/main/java/io/kamille/perf/lab/CoreMeter.java",
        "proxy-core/src/main/java/io/kamille/core/loop",
        "proxy-core/src/main/java/io/kamille/core/hostsocket");
  }

  @Override
  void report(Report report) {
    Samples good = CoreMeter.undisturbed(bursts);
    Samples goodTrips = CoreMeter.undisturbed(trips);
    report
        .heading("One-way bandwidth")
        .paragraph(
            "Disturbed and left out: "
                + (bursts.all().size() - good.all().size())
                + " bursts, "
                + (trips.all().size() - goodTrips.all().size())
                + " round trips.")
        .plot(
            "bursts",
            new LineChart("One-way bandwidth over buffer size", "buffer, octets", "MB/s")
                .lines(good, BANDWIDTH))
        .table(good.wholeTable("network", "buffer, octets", BURST_COLUMNS))
        .heading("Round trips")
        .table(goodTrips.table("network", TRIP, TRIP_COLUMNS));
    for (String situation : samples.situations()) {
      report.heading(situation).table(samples.table("network", situation, COLUMNS));
    }
  }
}
