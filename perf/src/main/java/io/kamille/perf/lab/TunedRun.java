package io.kamille.perf.lab;

import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import java.io.IOException;
import java.time.Duration;

/**
 * One crowd at one server, tuned in one way.
 *
 * @param goodput octets a second, by kind of client
 * @param sendMemory what the kernel held to send, mean, in octets
 * @param cpuSeconds of the server, each second
 * @param lateMicros how late the emulator was at p99
 */
@SuppressWarnings("ArrayRecordComponent") // written once, and compared with nothing
record TunedRun(double[] goodput, double sendMemory, double cpuSeconds, double lateMicros) {

  private static final long SEED = 4;
  private static final int OBJECT_BYTES = 4 << 20;

  /** Something to do meanwhile, on a thread of its own. */
  interface Meanwhile {
    void look(TunedServer server) throws IOException, InterruptedException;
  }

  static TunedRun of(
      Workbench bench,
      Namespaces spaces,
      String settings,
      TunedCrowd crowd,
      Duration settling,
      Duration counted,
      Meanwhile meanwhile)
      throws IOException, InterruptedException {
    try (var server = TunedServer.start(bench, spaces, "tuned", settings);
        var wan = WanEmulator.start(spaces, crowd.links(), WanEmulator.Options.seeded(SEED))) {
      var looking = Thread.ofPlatform().start(() -> look(server, meanwhile));
      long begin = System.nanoTime();
      double cpuBefore = seconds(server);
      Fetched fetched = fetch(spaces, server, crowd, settling, counted);
      double cpu = (seconds(server) - cpuBefore) / ((System.nanoTime() - begin) / 1e9);
      looking.interrupt();
      looking.join();
      double[] goodput = crowd.byKind(fetched.octets());
      for (int i = 0; i < goodput.length; i++) {
        goodput[i] /= counted.toSeconds();
      }
      return new TunedRun(goodput, fetched.memory(), cpu, wan.stats().latenessP99Nanos() / 1e3);
    }
  }

  private static double seconds(TunedServer server) throws IOException {
    return (server.cpuTime().userMicros() + server.cpuTime().kernelMicros()) / 1e6;
  }

  private static void look(TunedServer server, Meanwhile meanwhile) {
    try {
      meanwhile.look(server);
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    } catch (IOException ended) {
      System.err.println("lab: " + ended.getMessage());
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // handed from one thread to the other, once
  private record Fetched(long[] octets, double memory) {}

  private static Fetched fetch(
      Namespaces spaces, TunedServer server, TunedCrowd crowd, Duration settling, Duration counted)
      throws IOException, InterruptedException {
    return spaces.callAtClient(
        () -> {
          var target = OriginTarget.of(OBJECT_BYTES, OBJECT_BYTES);
          try (var clients =
              new PathClients(TunedServer.address(), WanServer.authority(), target)) {
            for (Fetcher fetcher : crowd.fetchers()) {
              clients.add(fetcher);
            }
            try (SendMemory memory = server.watchMemory(settling)) {
              return new Fetched(clients.run(settling, counted), memory.meanBytes());
            }
          }
        });
  }

  /** All kinds together, octets a second. */
  double goodputInAll() {
    double sum = 0;
    for (double each : goodput) {
      sum += each;
    }
    return sum;
  }
}
