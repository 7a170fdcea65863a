package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A process that has just been started: its first answer, its CPU time minute by minute, and the
 * way to its peak at full load.
 */
@Command
public final class StartComparison extends Comparison {

  /*
   * Each round starts each server anew, alone on its core, and ends it before the next one begins.
   * All get the same requests at the same instants: WebAxe-4 by an open loop, from an empty store.
   * The first minute counts from the start of the process. For the way to the peak each server
   * starts once more and answers hits in a closed loop, second by second. It is there when CPU time
   * per request stays within 10 % of the median of the last seconds.
   */

  private static final String KAMILLE = "kamille";
  private static final String FIRST = "first answer";
  private static final int WORKING_SET_BYTES = 64 << 20;
  private static final int SEED = 1;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration ASK_AGAIN = Duration.ofMillis(2);

  /** From the call that starts the process. */
  private static final Figure WALL = Figure.of("first_answer_millis");

  private static final Figure CPU_FIRST = Figure.of("first_answer_cpu_millis");
  private static final Figure CPU = Meter.CPU.per(COMPLETED);
  private static final List<Column> START =
      List.of(Column.spread("ms", WALL, 0), Column.spread("CPU ms", CPU_FIRST, 0));
  private static final List<Column> MINUTES =
      List.of(
          Column.spread("CPU µs/request", CPU, 1),
          Column.ratio("÷ nginx", CPU, "nginx"),
          Column.median("of it compilers", Meter.COMPILERS.per(COMPLETED).times(1e-3), 1),
          Column.median("loops", Meter.LOOPS.per(COMPLETED).times(1e-3), 1),
          Column.sum("failed", FAILED),
          Column.spread("p50 ms", P50.times(1e-3), 2),
          Column.spread("p99 ms", P99.times(1e-3), 2),
          Column.median("MiB", Meter.RESIDENT.times(1.0 / (1 << 20)), 0));

  private static final String FULL = "full load from the start";
  private static final int LAST_SECONDS = 5;
  private static final double NEAR = 1.1;

  /** Until a hit costs, for two seconds, what it costs at the end. */
  private static final Figure WARM_AFTER = Figure.of("warm_after_seconds");

  private static final Figure FIRST_SECOND = Figure.of("first_second_micros_per_hit");
  private static final Figure FIFTH_SECOND = Figure.of("fifth_second_micros_per_hit");
  private static final Figure AT_LAST = Figure.of("last_micros_per_hit");
  private static final List<Column> WARMING =
      List.of(
          Column.spread("seconds until within 10 %", WARM_AFTER, 0),
          Column.spread("CPU µs/hit in second 1", FIRST_SECOND, 1),
          Column.spread("in second 5", FIFTH_SECOND, 1),
          Column.spread("at last", AT_LAST, 2));

  @Option(names = "--minutes", description = "of load on each, in each round (${DEFAULT-VALUE})")
  private int minutes = 2;

  @Option(names = "--rate", description = "requests per second (${DEFAULT-VALUE})")
  private int rate = 600;

  @Option(
      names = "--full-load",
      description = "seconds of hits in a closed loop on each, in each round (${DEFAULT-VALUE})")
  private int fullLoad = 20;

  private final Samples warmings = new Samples("");
  private final Samples starts = new Samples("");
  private final Samples loads = new Samples("");

  /** With minutes of 60 seconds. */
  public StartComparison() {
    super(5, 60, 100);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    List<Peer> peers = installed(List.of(KAMILLE, "nginx", "haproxy", "varnish"));
    fact(
        "run",
        "WebAxe-4 at %d/s from an empty store, %d connections, %d rounds in turn",
        rate,
        connections,
        rounds);
    begin();
    answers(Workbench.freePort()); // The client's own first use of its classes takes long.
    for (int round = 1; round <= rounds; round++) {
      for (Peer peer : peers) {
        measure(peer, round);
        if (fullLoad > 0) {
          warmings.add(toThePeak(peer, round));
        }
      }
    }
    print(starts.table(FIRST, FIRST, START));
    loads.situations().forEach(minute -> print(loads.table(minute, minute, MINUTES)));
    if (fullLoad > 0) {
      print(warmings.table(FULL, FULL, WARMING));
    }
    print(
        List.of(
            Goal.atMost(
                300, "first answer within 300 ms", all -> all.spread(WALL, FIRST, KAMILLE))),
        starts);
    print(List.of(minute(1, 1.5), minute(2, 1)), loads);
    print(
        List.of(Goal.atMost(8, "warm after 8 s", all -> all.spread(WARM_AFTER, FULL, KAMILLE))),
        warmings);
    keep(loads);
    keep("-full.csv", warmings);
    keep("-first.csv", starts);
  }

  private static Goal minute(int number, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "CPU of minute %d at most %.2f × nginx", number, limit),
        all -> all.ratio(CPU, "minute " + number, KAMILLE, "nginx"));
  }

  private void measure(Peer peer, int round) throws IOException {
    int port = Workbench.freePort();
    Path directory = bench().directory(peer.label());
    var place = new Place(Job.MIX, port, origin().port(), 2 * connections);
    List<String> command = peer.prepare(directory, place);
    long begin = System.nanoTime();
    Child process = bench().start(peer.label(), Workbench.Core.SERVER, command);
    try {
      starts.add(firstAnswer(Sample.of(FIRST, peer.label(), round), process, port, begin));
      var settings =
          LoadSettings.persistent(port, connections)
              .withUses(WebAxe4.clientUses(SEED))
              .onSharedCore();
      try (var client = LoadClient.open(settings)) {
        var workload = new WebAxe4("127.0.0.1", WORKING_SET_BYTES, 0, SEED);
        for (int minute = 1; minute <= minutes; minute++) {
          var meter = minute == 1 ? Meter.fromExec(process) : Meter.start(process);
          var load = client.run(rate, Duration.ofSeconds(seconds), minute, workload);
          var sample = meter.stop(Sample.of("minute " + minute, peer.label(), round));
          loads.add(LoadFigures.with(sample, load));
        }
      }
    } finally {
      process.stop();
    }
  }

  private Sample toThePeak(Peer peer, int round) throws IOException, InterruptedException {
    int port = Workbench.freePort();
    var place = new Place(Job.HIT, port, origin().port(), 2 * connections);
    Contestant server = Contestant.start(bench(), peer, place);
    try {
      server.prove(Subject.HIT);
      var micros = new double[fullLoad];
      for (int second = 0; second < fullLoad; second++) {
        var meter = Meter.start(server.process());
        var load = LoadProgram.wrk(bench(), connections, port, Subject.HIT.path(), 1);
        Sample taken = meter.stop(Sample.of(FULL, peer.label(), round));
        micros[second] = taken.of(Meter.CPU) / Math.max(1, load.requests());
      }
      double[] last = Arrays.copyOfRange(micros, Math.max(0, fullLoad - LAST_SECONDS), fullLoad);
      Arrays.sort(last);
      double atLast = last[last.length / 2];
      return Sample.of(FULL, peer.label(), round)
          .with(WARM_AFTER, warmAfter(micros, NEAR * atLast))
          .with(FIRST_SECOND, micros[0])
          .with(FIFTH_SECOND, micros[Math.min(4, fullLoad - 1)])
          .with(AT_LAST, atLast);
    } finally {
      server.process().stop();
    }
  }

  /** Seconds before the first two in a row that are cheap enough; all of them if there are none. */
  private static int warmAfter(double[] micros, double limit) {
    for (int i = 0; i + 1 < micros.length; i++) {
      if (micros[i] <= limit && micros[i + 1] <= limit) {
        return i;
      }
    }
    return micros.length;
  }

  private static Sample firstAnswer(Sample sample, Child process, int port, long begin)
      throws IOException {
    while (!answers(port)) {
      if (System.nanoTime() - begin > LIMIT.toNanos()) {
        throw new IOException("no answer within " + LIMIT);
      }
      LockSupport.parkNanos(ASK_AGAIN.toNanos());
    }
    long nanos = System.nanoTime() - begin;
    return sample.with(WALL, nanos / 1e6).with(CPU_FIRST, process.cpuTime().micros() / 1e3);
  }

  private static boolean answers(int port) throws IOException {
    var url = URI.create("http://127.0.0.1:" + port + Subject.HIT.path()).toURL();
    var connection = (HttpURLConnection) url.openConnection();
    connection.setRequestProperty("Connection", "close");
    try {
      return connection.getResponseCode() == 200;
    } catch (IOException notYet) {
      return false;
    } finally {
      connection.disconnect();
    }
  }
}
