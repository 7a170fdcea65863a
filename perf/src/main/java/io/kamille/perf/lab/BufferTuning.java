package io.kamille.perf.lab;

import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** P4: who gets how much send buffer, and what that does to goodput and to memory. */
@Command
final class BufferTuning extends Experiment {

  /*
   * Every way is a process of its own that serves the same object to the same crowd, over an
   * emulator of equal seed. Memory is what the kernel has queued for the server's connections (ss),
   * not sockstat: that counts what receivers have not read, too, and these are on the same machine.
   */

  /**
   * How much and how long, by scale.
   *
   * @param rounds of what verdicts hang on
   * @param users that ask for documents, by sendfile or copied
   * @param ways how many of Kamille's
   * @param clients behind paths, by way
   * @param seconds that count of a run
   */
  private record Extent(
      int rounds,
      List<Integer> slow,
      List<Integer> kibibytes,
      List<Integer> users,
      int ways,
      int clients,
      int seconds) {

    private static Extent of(Scale scale) {
      if (scale == Scale.QUICK) {
        return new Extent(1, List.of(0, 50), List.of(1024), List.of(10, 600), 2, 200, 2);
      }
      int rounds = scale == Scale.FULL ? 3 : 2;
      int seconds = scale == Scale.FULL ? 60 : 5;
      List<Integer> slow = List.of(0, 10, 50, 200);
      List<Integer> sizes = List.of(32, 64, 256, 1024, 4096);
      return new Extent(rounds, slow, sizes, List.of(10, 60, 600), 3, 600, seconds);
    }
  }

  private static final String CONGESTION_CONTROL = "cubic";

  @Option(
      names = "--only",
      split = ",",
      description = "these figures alone: 4 (with 8), 6, 7, paths")
  private List<String> only = List.of("4", "6", "7", "paths");

  private final SendfileGain sendfile = new SendfileGain(this);
  private final AllocationOverTime overTime = new AllocationOverTime(this);
  private final BesideSlowOnes beside = new BesideSlowOnes(this);
  private final PathMemory memory = new PathMemory(this);

  BufferTuning() {
    super("p4", "send buffers: policy × paths, memory at equal goodput (as root)");
  }

  @Override
  Object[] setting() {
    return new Object[] {CONGESTION_CONTROL};
  }

  @Override
  void measure() throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var runs = new TunedRun(bench, spaces, Duration.ZERO, Duration.ZERO);
      int seconds = extent.seconds();
      int rounds = extent.rounds();
      if (only.contains("4")) {
        sendfile.measure(runs.lasting(2, seconds), extent.kibibytes(), extent.users(), rounds);
      }
      if (only.contains("6")) {
        overTime.measure(runs, 3 * seconds, rounds);
      }
      if (only.contains("7")) {
        beside.measure(runs, seconds, extent.slow(), rounds);
      }
      if (only.contains("paths")) {
        TunedRun longer = runs.lasting(Math.min(7, 2 * seconds - 2), seconds);
        memory.measure(longer, extent.ways(), extent.clients());
      }
    }
  }

  @Override
  List<Finding> findings() {
    var all = new ArrayList<Finding>(sendfile.findings(Extent.of(scale()).users()));
    all.addAll(overTime.findings());
    all.addAll(beside.findings());
    all.add(memory.finding());
    all.add(
        Finding.untested(
            "Fig. 4: throughput over socket buffer size",
            "the kernel tunes sizes, and objects take the place of buffers"));
    all.add(
        Finding.untested(
            "future work: what a client's connections before taught sizes the next one",
            "Kamille learns by client network (tuning.policy: equation); no run has short"
                + " connections with and without it"));
    return all;
  }

  @Override
  List<String> sources() {
    String lab = "perf/src/main/java/io/kamille/perf/lab/";
    return List.of(
        lab + "AllocationOverTime.java",
        lab + "AllocationTrace.java",
        lab + "BesideSlowOnes.java",
        lab + "BufferTuning.java",
        lab + "BufferWay.java",
        lab + "PathMemory.java",
        lab + "PathStep.java",
        lab + "SendBufferSplit.java",
        lab + "SendfileGain.java",
        lab + "TunedRun.java",
        lab + "WanServer.java",
        lab + "WebUsers.java",
        "perf/src/main/java/io/kamille/perf/compare/SlowProcessor.java",
        "perf/src/main/java/io/kamille/perf/host/SendMemory.java",
        "perf/src/main/java/io/kamille/perf/load/PathClients.java",
        "perf/src/main/java/io/kamille/perf/load/Surge.java",
        "perf/src/main/java/io/kamille/perf/load/SurgeClients.java",
        "perf/src/main/java/io/kamille/perf/load/TransferRates.java",
        "perf/src/main/java/io/kamille/perf/wan",
        "proxy-admin/src/main/java/io/kamille/admin/tuning");
  }

  @Override
  void report(Report report) {
    sendfile.reportObjects(report);
    overTime.report(report);
    beside.report(report);
    sendfile.reportDocuments(report);
    memory.report(report);
  }
}
