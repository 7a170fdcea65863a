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

  /** Seconds of a run before figures count, and while they do. */
  private record Time(int settling, int counted) {}

  /**
   * How long and how much, by scale.
   *
   * @param rounds of what verdicts hang on
   * @param documents clients that ask for documents, by sendfile or copied
   * @param users of the web over paths
   */
  private record Extent(
      int rounds,
      List<Integer> slow,
      List<Integer> kibibytes,
      List<Integer> clients,
      List<Integer> documents,
      List<Integer> users,
      int readers,
      int mixed,
      Time objectTime,
      Time overTime,
      Time besideTime,
      Time memoryTime) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                1,
                List.of(0, 100),
                List.of(64, 1024),
                List.of(10),
                List.of(10, 600),
                List.of(200),
                200,
                400,
                new Time(2, 2),
                new Time(9, 4),
                new Time(3, 2),
                new Time(2, 2));
        case NORMAL ->
            new Extent(
                2,
                List.of(0, 10, 50, 200),
                List.of(32, 64, 256, 1024, 4096),
                List.of(10),
                List.of(10, 60, 600),
                List.of(600),
                1000,
                2000,
                new Time(2, 4),
                new Time(15, 15),
                new Time(3, 4),
                new Time(7, 6));
        case FULL ->
            new Extent(
                3,
                List.of(0, 10, 25, 50, 100, 150, 200),
                List.of(32, 64, 128, 256, 1024, 4096),
                List.of(1, 10, 60),
                List.of(10, 60, 600),
                List.of(10, 60, 600),
                1000,
                2000,
                new Time(20, 120),
                new Time(15, 30),
                new Time(10, 30),
                new Time(20, 60));
      };
    }
  }

  private static final String CONGESTION_CONTROL = "cubic";

  @Option(names = "--only", split = ",", description = "these figures alone: 4, 6, 7, paths, users")
  private List<String> only = List.of("4", "6", "7", "paths", "users");

  private final SendfileGain sendfile = new SendfileGain(this);
  private final AllocationOverTime overTime = new AllocationOverTime(this);
  private final BesideSlowOnes beside = new BesideSlowOnes(this);
  private final PathMemory memory = new PathMemory(this);
  private final WebUsers users = new WebUsers(this);

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
      if (only.contains("4")) {
        sendfile.measure(
            lasting(runs, extent.objectTime()),
            extent.kibibytes(),
            extent.clients(),
            extent.documents(),
            extent.rounds());
      }
      if (only.contains("6")) {
        overTime.measure(lasting(runs, extent.overTime()), 1);
      }
      if (only.contains("7")) {
        beside.measure(lasting(runs, extent.besideTime()), extent.slow(), extent.rounds());
      }
      if (only.contains("paths")) {
        memory.measure(lasting(runs, extent.memoryTime()), extent.readers(), extent.mixed());
      }
      if (only.contains("users")) {
        users.measure(lasting(runs, extent.memoryTime()), extent.users());
      }
    }
  }

  private static TunedRun lasting(TunedRun runs, Time time) {
    return runs.lasting(time.settling(), time.counted());
  }

  @Override
  List<Finding> findings() {
    var all = new ArrayList<Finding>(sendfile.findings());
    all.addAll(overTime.findings());
    all.addAll(beside.findings());
    all.addAll(users.findings());
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
        lab + "SendBufferSplit.java",
        lab + "SendfileGain.java",
        lab + "TunedRun.java",
        lab + "WebUsers.java",
        "perf/src/main/java/io/kamille/perf/load/SurgeClients.java",
        "perf/src/main/java/io/kamille/perf/wan",
        "proxy-admin/src/main/java/io/kamille/admin/tuning");
  }

  @Override
  void report(Report report) {
    sendfile.reportObjects(report);
    overTime.report(report);
    beside.report(report);
    sendfile.reportDocuments(report);
    users.report(report);
    memory.report(report);
  }
}
