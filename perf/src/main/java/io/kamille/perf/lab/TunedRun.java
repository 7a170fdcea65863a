package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

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

  /** Seconds of the server's processor time, each second. */
  static final Figure CPU = Figure.of("cpu");

  /** Jain's index of what clients got in parts of the mean of their kind. */
  static final Figure FAIRNESS = Figure.of("fairness");

  /** How late the emulator was at p99. */
  static final Figure LATE = Figure.of("late_micros");

  private static final long SEED = 4;
  private static final int OBJECT_BYTES = 4 << 20;
  private static final int CONNECTIONS = 8000;

  /** Octets a second, of one kind of client. */
  static Figure goodput(String kind) {
    return Figure.of("goodput_bytes of " + kind);
  }

  /** Something to do meanwhile, on a thread of its own, until it is interrupted. */
  interface Meanwhile {

    void look(WanServer server) throws IOException, InterruptedException;
  }

  /** Measures, and adds what came out to a sample. */
  Sample measure(Sample sample, String settings, TunedCrowd crowd)
      throws IOException, InterruptedException {
    return measure(sample, settings, crowd, counted, server -> {});
  }

  /** The same with something to do meanwhile, for so long. */
  Sample measure(
      Sample sample, String settings, TunedCrowd crowd, Duration counting, Meanwhile meanwhile)
      throws IOException, InterruptedException {
    var kamille = new Kamille(Checkout.find()).with(settings).withMetrics(WanServer.ADMIN_PORT);
    var nobody = new Opponents(List.of());
    try (var server = WanServer.start(bench, spaces, kamille, nobody, CONNECTIONS);
        var wan = WanEmulator.start(spaces, crowd.links(), WanEmulator.Options.seeded(SEED))) {
      var looking = Thread.ofPlatform().start(() -> look(server, meanwhile));
      long begin = System.nanoTime();
      double cpuBefore = seconds(server);
      Fetched fetched = fetch(server, crowd, counting);
      double cpu = (seconds(server) - cpuBefore) / ((System.nanoTime() - begin) / 1e9);
      looking.interrupt();
      looking.join();
      double all = 0;
      for (String kind : crowd.kinds()) {
        double goodput = (double) crowd.octetsOf(kind, fetched.octets()) / counting.toSeconds();
        sample.with(goodput(kind), goodput);
        all += goodput;
      }
      return sample
          .with(CLIENTS, crowd.fetchers().size())
          .with(GOODPUT, all)
          .with(MEMORY, fetched.memory())
          .with(FAIRNESS, crowd.fairness(fetched.octets()))
          .with(CPU, cpu)
          .with(LATE, wan.stats().latenessP99Nanos() / 1e3);
    }
  }

  private static double seconds(WanServer server) throws IOException {
    return (server.cpuTime().userMicros() + server.cpuTime().kernelMicros()) / 1e6;
  }

  private static void look(WanServer server, Meanwhile meanwhile) {
    try {
      meanwhile.look(server);
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    } catch (IOException ended) {
      System.err.println("lab: " + ended.getMessage());
    }
  }

  private record Fetched(List<Long> octets, double memory) {}

  private Fetched fetch(WanServer server, TunedCrowd crowd, Duration counting)
      throws IOException, InterruptedException {
    return spaces.callAtClient(
        () -> {
          var target = OriginTarget.of(OBJECT_BYTES, OBJECT_BYTES);
          try (var clients =
                  PathClients.open(
                      WanServer.address(), WanServer.authority(), target, crowd.fetchers());
              SendMemory memory = server.watchMemory(settling)) {
            return new Fetched(clients.run(settling, counting), memory.meanBytes());
          }
        });
  }
}
