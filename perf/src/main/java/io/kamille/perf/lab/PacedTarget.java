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
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.PacedResponder;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Servers of one kind, paced with several intervals. Confined. */
final class PacedTarget implements AutoCloseable {

  /** What is paced. */
  enum Kind {
    POLL("poll(2)"),
    EPOLL("epoll"),
    KAMILLE("Kamille");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final long NANOS_PER_MICRO = 1000;

  /** Tells how many polls a server has made since its start. */
  @FunctionalInterface
  private interface PollMeter {
    Polls read() throws IOException;
  }

  /** One server under load. */
  record Served(Child process, LoadClient client, PollMeter meter) {

    /** Reads its meters. */
    Reading read() throws IOException {
      Polls polls = meter.read();
      return new Reading(process.runTime(), 0, process.cpuTime(), polls.polls(), polls.events());
    }
  }

  /** What a responder tells of itself. */
  private static Polls pollsOfResponder(int port) throws IOException {
    try (var in = URI.create("http://127.0.0.1:" + port + "/polls").toURL().openStream()) {
      String[] counts = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ", -1);
      return new Polls(Long.parseLong(counts[0]), Long.parseLong(counts[1]));
    }
  }

  /**
   * What the meters of a server say.
   *
   * @param ranNanos of its threads since another reading; 0 in a reading of its own
   * @param polls less than 0 if it does not tell
   */
  record Reading(RunTime runTime, long ranNanos, CpuTime cpu, long polls, long events) {

    /** Of a process and its children, to a tick of 10 ms; it does not tell of polls. */
    static Reading ofAll(Child process) throws IOException {
      return new Reading(process.runTime(), 0, process.cpuTime(), -1, 0);
    }

    /** The same as {@link #since}, but with the time of the children, by ticks. */
    Reading sinceByTicks(Reading before) {
      CpuTime taken = cpu.minus(before.cpu);
      long micros = taken.userMicros() + taken.kernelMicros();
      return new Reading(runTime, micros * NANOS_PER_MICRO, taken, -1, 0);
    }

    Reading since(Reading before) {
      return new Reading(
          runTime,
          runTime.since(before.runTime).ranNanos(),
          cpu.minus(before.cpu),
          polls < 0 ? -1 : polls - before.polls,
          events - before.events);
    }
  }

  private final Map<Integer, Served> byInterval = new HashMap<>();
  private @Nullable ChangingKamille kamille;

  private PacedTarget() {}

  /** Starts them; the bench ends them, and closing this ends them before. */
  static PacedTarget start(
      Workbench bench, Kind kind, List<Integer> intervals, int connections, boolean isPersistent)
      throws IOException {
    var target = new PacedTarget();
    try {
      if (kind == Kind.KAMILLE) {
        target.startKamille(bench, intervals, connections, isPersistent);
      } else {
        for (int interval : intervals) {
          target.startResponder(bench, kind, interval, connections, isPersistent);
        }
      }
      return target;
    } catch (IOException e) {
      target.close();
      throw e;
    }
  }

  private void startKamille(
      Workbench bench, List<Integer> intervals, int connections, boolean isPersistent)
      throws IOException {
    Origin origin = Origin.start(bench);
    int port = Workbench.freePort();
    var place = new Place(Job.MIX, port, origin.port(), connections, List.of());
    var told = new Kamille(Checkout.find()).withMetrics(Workbench.freePort());
    ChangingKamille server = ChangingKamille.start(bench, told.withPacing("off"), place);
    kamille = server;
    LoadSettings settings = settings(port, connections, isPersistent).onSharedCore();
    var served =
        new Served(
            server.process(), LoadClient.open(settings), () -> Polls.parse(server.metrics()));
    intervals.forEach(interval -> byInterval.put(interval, served));
  }

  private void startResponder(
      Workbench bench, Kind kind, int interval, int connections, boolean isPersistent)
      throws IOException {
    int port = Workbench.freePort();
    List<String> options =
        List.of(
            PacedResponder.POLL_OPTION,
            "-D" + PacedResponder.TRANSPORT + "=" + (kind == Kind.EPOLL ? "epoll" : "nio"),
            "-D" + PacedResponder.INTERVAL + "=" + interval);
    Child process =
        bench.start(
            "responder-" + port, Core.SERVER, Jvm.command(PacedResponder.class, options, port));
    process.awaitListening(port, START_LIMIT);
    var client = LoadClient.open(settings(port, connections, isPersistent));
    byInterval.put(interval, new Served(process, client, () -> pollsOfResponder(port)));
  }

  static LoadSettings settings(int port, int connections, boolean isPersistent) {
    var settings = LoadSettings.persistent(port, connections);
    return isPersistent
        ? settings.withUses(WebAxe4.clientUses(1))
        : settings.withUsesPerConnection(1);
  }

  /** The server with that interval, in force. */
  Served paced(int intervalMicros) throws IOException, InterruptedException {
    if (kamille != null) {
      kamille.pace(intervalMicros == 0 ? "off" : intervalMicros + "us");
    }
    Served served = byInterval.get(intervalMicros);
    if (served == null) {
      throw new IllegalStateException("interval: " + intervalMicros + " (expected: one started)");
    }
    return served;
  }

  @Override
  public void close() throws IOException {
    for (Served served : byInterval.values().stream().distinct().toList()) {
      served.client().close();
      served.process().stop();
    }
  }
}
