package io.kamille.perf.lab;

import io.kamille.perf.compare.ChangingKamille;
import io.kamille.perf.compare.Contestant;
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
import io.kamille.perf.peer.Metrics;
import io.kamille.perf.peer.Peer;
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

  /** Of a server that does not tell of its polls. */
  private static final Polls UNTOLD = new Polls(-1, 0);

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** Toward the origin, which thinks: more than any of the rates needs at once. */
  private static final int ORIGIN_CONNECTIONS = 4096;

  private static final long NANOS_PER_MICRO = 1000;

  /**
   * How many polls a loop has made, and how many events they brought.
   *
   * @param polls since the start; less than 0 if that is not told
   */
  record Polls(long polls, long events) {}

  /** Tells how many polls a server has made since its start. */
  @FunctionalInterface
  private interface PollMeter {

    Polls read() throws IOException;
  }

  /**
   * One server under load.
   *
   * @param hasChildren whether it works in processes of its own, whose time is known to a tick of
   *     10 ms
   */
  record Served(Child process, LoadClient client, boolean hasChildren, PollMeter meter) {

    /** Reads its meters. */
    Reading read() throws IOException {
      RunTime runTime = hasChildren ? null : process.runTime();
      return new Reading(runTime, process.cpuTime(), meter.read());
    }
  }

  /** What the meters of a server say; to the nanosecond if it works in one process. */
  record Reading(@Nullable RunTime runTime, CpuTime cpu, Polls polls) {

    Taken since(Reading before) {
      CpuTime taken = cpu.minus(before.cpu);
      long ran =
          runTime != null && before.runTime != null
              ? runTime.since(before.runTime).ranNanos()
              : (taken.userMicros() + taken.kernelMicros()) * NANOS_PER_MICRO;
      var made =
          polls.polls < 0
              ? polls
              : new Polls(polls.polls - before.polls.polls, polls.events - before.polls.events);
      return new Taken(ran, taken, made);
    }
  }

  /** What a server took between two readings. */
  record Taken(long ranNanos, CpuTime cpu, Polls polls) {}

  private final Workbench bench;
  private final int connections;
  private final boolean isPersistent;
  private final Map<Integer, Served> byInterval = new HashMap<>();
  private @Nullable ChangingKamille kamille;

  /** Servers that the bench ends, and closing this before. */
  PacedTarget(Workbench bench, int connections, boolean isPersistent) {
    this.bench = bench;
    this.connections = connections;
    this.isPersistent = isPersistent;
  }

  /** Starts a Kamille that takes all these intervals in turn. */
  void startKamille(List<Integer> intervals) throws IOException {
    Origin origin = Origin.start(bench);
    int port = Workbench.freePort();
    var place = new Place(Job.MIX, port, origin.port(), connections, List.of());
    var told = new Kamille(Checkout.find()).withMetrics(Workbench.freePort());
    ChangingKamille server = ChangingKamille.start(bench, told.withPacing("off"), place);
    kamille = server;
    var served = new Served(server.process(), sharing(port), false, () -> polls(server.metrics()));
    intervals.forEach(interval -> byInterval.put(interval, served));
  }

  private static Polls polls(Metrics metrics) throws IOException {
    return new Polls(
        metrics.required("kamille_loop_polls_total"),
        metrics.required("kamille_loop_events_total"));
  }

  /** Starts another server, which knows no interval. */
  void startOther(Peer peer, Opponents setups) throws IOException {
    Origin origin = Origin.start(bench);
    int port = Workbench.freePort();
    var place =
        new Place(Job.MIX, port, origin.port(), connections + ORIGIN_CONNECTIONS, List.of());
    Contestant other = Contestant.start(bench, peer, place, setups::keep);
    byInterval.put(0, new Served(other.process(), sharing(port), true, () -> UNTOLD));
  }

  /** Starts a responder for each of these intervals. */
  void startResponders(boolean isEpoll, List<Integer> intervals) throws IOException {
    for (int interval : intervals) {
      int port = Workbench.freePort();
      List<String> options =
          List.of(
              PacedResponder.POLL_OPTION,
              "-D" + PacedResponder.TRANSPORT + "=" + (isEpoll ? "epoll" : "nio"),
              "-D" + PacedResponder.INTERVAL + "=" + interval);
      Child process =
          bench.start(
              "responder-" + port, Core.SERVER, Jvm.command(PacedResponder.class, options, port));
      process.awaitListening(port, START_LIMIT);
      var client = LoadClient.open(settings(port));
      byInterval.put(interval, new Served(process, client, false, () -> pollsOfResponder(port)));
    }
  }

  /** What a responder tells of itself. */
  private static Polls pollsOfResponder(int port) throws IOException {
    try (var in = URI.create("http://127.0.0.1:" + port + "/polls").toURL().openStream()) {
      String[] counts = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ", -1);
      return new Polls(Long.parseLong(counts[0]), Long.parseLong(counts[1]));
    }
  }

  private LoadClient sharing(int port) throws IOException {
    return LoadClient.open(settings(port).onSharedCore());
  }

  private LoadSettings settings(int port) {
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
