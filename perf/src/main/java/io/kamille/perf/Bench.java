package io.kamille.perf;

import io.kamille.perf.compare.CollapseComparison;
import io.kamille.perf.compare.FaultComparison;
import io.kamille.perf.compare.IdleComparison;
import io.kamille.perf.compare.OverloadComparison;
import io.kamille.perf.compare.PacingComparison;
import io.kamille.perf.compare.PurgeMeasurement;
import io.kamille.perf.compare.RecoveryMeasurement;
import io.kamille.perf.compare.RequestComparison;
import io.kamille.perf.compare.SecureComparison;
import io.kamille.perf.compare.SlowComparison;
import io.kamille.perf.compare.StartComparison;
import io.kamille.perf.compare.StorageMeasurement;
import io.kamille.perf.compare.UpgradeMeasurement;
import io.kamille.perf.compare.WebAxeComparison;
import io.kamille.perf.option.Command;
import io.kamille.perf.option.Commands;
import io.kamille.perf.option.Options;
import io.kamille.perf.wan.WanCheck;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** What {@code ./dev bench} runs: a comparison with other servers, or micro-benchmarks by name. */
public final class Bench {

  private static final Commands COMMANDS =
      new Commands(
          "bench",
          List.of(
              new Command(
                  "hit",
                  "a stored response, compared with the floor and other servers",
                  RequestComparison.OPTIONS,
                  RequestComparison::ofHits),
              new Command(
                  "pass",
                  "a small response that must not be stored, compared",
                  RequestComparison.OPTIONS,
                  RequestComparison::ofPasses),
              new Command(
                  "coded",
                  "stored text, as it is and compressed for clients that take gzip, compared",
                  RequestComparison.OPTIONS,
                  RequestComparison::ofCoded),
              new Command(
                  "disk",
                  "a stored response on the disk, sent from there, compared",
                  RequestComparison.OPTIONS,
                  RequestComparison::ofDisk),
              new Command(
                  "h2",
                  "a stored response in HTTP/2 over TLS, many streams and one, compared",
                  SecureComparison.OPTIONS,
                  SecureComparison::ofH2),
              new Command(
                  "tls",
                  "a stored response in HTTP/1.1 over TLS with one cipher, compared",
                  SecureComparison.OPTIONS,
                  SecureComparison::ofTls),
              new Command(
                  "idle",
                  "the memory that an idle persistent connection takes, compared",
                  IdleComparison.OPTIONS,
                  IdleComparison::run),
              new Command(
                  "collapse",
                  "many misses on one key at once: origin requests and first octets, compared",
                  CollapseComparison.OPTIONS,
                  CollapseComparison::run),
              new Command(
                  "slow",
                  "well-behaved clients beside hundreds that are as slow as they can be, compared",
                  SlowComparison.OPTIONS,
                  SlowComparison::run),
              new Command(
                  "faults",
                  "an origin that fails, its route and another route, compared",
                  FaultComparison.OPTIONS,
                  FaultComparison::run),
              new Command(
                  "pacing",
                  "ways of pacing of one Kamille, under load from a clock",
                  PacingComparison.OPTIONS,
                  PacingComparison::run),
              new Command(
                  "overload",
                  "goodput and latency when more is asked than can be done, compared (as root)",
                  OverloadComparison.OPTIONS,
                  OverloadComparison::run),
              new Command(
                  "webaxe",
                  "the WebAxe-4 mix before an origin: hits, errors, CPU time, clean rate, compared",
                  WebAxeComparison.OPTIONS,
                  WebAxeComparison::run),
              new Command(
                  "start",
                  "the first answer of a new process, and its CPU time minute by minute, compared",
                  StartComparison.OPTIONS,
                  StartComparison::run),
              new Command(
                  "recovery",
                  "how soon a process serves that has a million responses on its disk",
                  RecoveryMeasurement.OPTIONS,
                  RecoveryMeasurement::run),
              new Command(
                  "upgrade",
                  "what clients notice of twenty upgrades in a row",
                  UpgradeMeasurement.OPTIONS,
                  UpgradeMeasurement::run),
              new Command(
                  "purge",
                  "the cost of a purge by tag among a million stored responses",
                  Options.none(),
                  chosen -> PurgeMeasurement.run()),
              new Command(
                  "storage",
                  "hit ratios of policies on traces, and the memory that a stored response takes",
                  Options.none(),
                  chosen -> StorageMeasurement.run()),
              new Command(
                  "wan",
                  "how exact the path emulator is on this machine (as root)",
                  Options.none(),
                  chosen -> WanCheck.run())));

  private Bench() {}

  /** Runs what the first argument names with the other arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    List<String> words = List.of(arguments);
    if (Commands.asksForHelp(words)) {
      printHelp();
    } else if (COMMANDS.named(words.getFirst()).isPresent()) {
      Commands.orFail(COMMANDS.program(), () -> COMMANDS.run(words));
    } else {
      Commands.orFail(COMMANDS.program(), () -> runMicro(words));
    }
  }

  private static void printHelp() {
    System.out.print(COMMANDS.help());
    System.out.println("\n./dev bench NAME [JMH ARGS]: micro-benchmarks that match a name");
    var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    BenchmarkList.defaultList().getAll(silent, List.of()).stream()
        .map(benchmark -> benchmark.getUsername().replaceFirst("^.*?(\\w+\\.\\w+)$", "$1"))
        .sorted()
        .forEach(benchmark -> System.out.println("  " + benchmark));
  }

  private static void runMicro(List<String> arguments) throws IOException {
    var words = new ArrayList<>(List.of(arguments.getFirst(), "-prof", "gc"));
    words.addAll(arguments.subList(1, arguments.size()));
    org.openjdk.jmh.Main.main(words.toArray(String[]::new));
  }
}
