package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.PathClients;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The paper's Fig. 4: stored content by sendfile(2), and copied, over object size and clients. */
final class RegionOrCopy {

  /*
   * 32 KiB is the least that Kamille sends by sendfile. Clients are in the server's own namespace,
   * on the other core: what a path takes would hide what a copy takes. Each asks again as soon as
   * it has the whole object.
   */
  private static final Figure BYTES = Figure.of("goodput_bytes");
  private static final Figure CPU = Figure.of("cpu");
  private static final Figure CPU_PER_MIB = Figure.of("cpu_micros_per_mib");
  private static final Duration COMPILING = Duration.ofSeconds(4);
  private static final Duration WARMUP = Duration.ofMillis(500);
  private static final int CONNECTIONS = 1000;
  private static final double MEBIBYTE = 1 << 20;
  private static final double KIBIBYTE = 1 << 10;

  /** How stored content leaves. */
  private enum Way {
    COPY("copied", "off"),
    REGION("by sendfile", "32KiB");

    private final String label;
    private final String from;

    Way(String label, String from) {
      this.label = label;
      this.from = from;
    }

    private String cache() {
      return "  memory:\n    capacity: 256MiB\n    sendfile-from: " + from + "\n";
    }
  }

  private final List<Integer> sizes;
  private final List<Integer> clients;
  private final Duration counted;
  private final Samples samples = new Samples("object, clients", "content");

  RegionOrCopy(List<Integer> sizes, List<Integer> clients, Duration counted) {
    this.sizes = sizes;
    this.clients = clients;
    this.counted = counted;
  }

  int steps() {
    return Way.values().length;
  }

  void measure(LabRun run, Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    for (Way way : Way.values()) {
      run.step("content " + way.label);
      var kamille = new Kamille(Checkout.find()).withCache(way.cache());
      try (var server =
          WanServer.start(bench, spaces, kamille, new Opponents(List.of()), CONNECTIONS)) {
        measure(server, spaces, way, sizes.getFirst(), 1, COMPILING);
        for (int size : sizes) {
          for (int count : clients) {
            run.keep("region.csv", samples, measure(server, spaces, way, size, count, WARMUP));
          }
        }
      }
    }
  }

  private Sample measure(
      WanServer server, Namespaces spaces, Way way, int size, int count, Duration warmup)
      throws IOException, InterruptedException {
    var target = OriginTarget.of(size, size);
    var fetcher = new Fetcher(0, Namespaces.SERVER_ADDRESS, Fetcher.UNLIMITED, Duration.ZERO);
    List<Fetcher> fetchers = Collections.nCopies(count, fetcher);
    try (var crowd =
        PathClients.open(WanServer.address(), WanServer.authority(), target, fetchers)) {
      return spaces.callAtServer(
          () -> {
            crowd.run(warmup, Duration.ofMillis(1));
            CpuTime before = server.cpuTime();
            double bytes = sum(crowd.run(Duration.ZERO, counted));
            double cpu = seconds(server.cpuTime()) - seconds(before);
            String situation = String.format(Locale.ROOT, "%.0f KiB, %d", size / KIBIBYTE, count);
            return Sample.of(situation, way.label, 1)
                .with(BYTES, bytes / counted.toSeconds())
                .with(CPU, cpu / counted.toSeconds())
                .with(CPU_PER_MIB, cpu * 1e6 / (bytes / MEBIBYTE));
          });
    }
  }

  private static double sum(List<Long> octets) {
    return octets.stream().mapToLong(Long::longValue).sum();
  }

  private static double seconds(CpuTime time) {
    return (time.userMicros() + time.kernelMicros()) / 1e6;
  }

  void report(Report report) {
    report.heading("By sendfile or copied (Fig. 4)");
    report.paragraph("Clients are on the same machine, without a path between.");
    report.table(
        samples.wholeTable(
            "content",
            "object, clients",
            List.of(
                Column.median("MiB/s", BYTES.times(1 / MEBIBYTE), 0),
                Column.ratio("rate ×", BYTES, Way.COPY.label),
                Column.median("CPU µs/MiB", CPU_PER_MIB, 0),
                Column.ratio("CPU ×", CPU_PER_MIB, Way.COPY.label))));
  }
}
