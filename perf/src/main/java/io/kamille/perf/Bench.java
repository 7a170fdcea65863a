package io.kamille.perf;

import static io.kamille.perf.compare.ComparisonOptions.COLLAPSE;
import static io.kamille.perf.compare.ComparisonOptions.FAULTS;
import static io.kamille.perf.compare.ComparisonOptions.IDLE;
import static io.kamille.perf.compare.ComparisonOptions.REQUESTS;
import static io.kamille.perf.compare.ComparisonOptions.SLOW;

import io.kamille.perf.compare.CollapseComparison;
import io.kamille.perf.compare.ComparisonOptions;
import io.kamille.perf.compare.FaultComparison;
import io.kamille.perf.compare.IdleComparison;
import io.kamille.perf.compare.OverloadComparison;
import io.kamille.perf.compare.PacingComparison;
import io.kamille.perf.compare.PurgeMeasurement;
import io.kamille.perf.compare.RequestComparison;
import io.kamille.perf.compare.SlowComparison;
import io.kamille.perf.compare.StartMeasurement;
import io.kamille.perf.compare.StorageMeasurement;
import io.kamille.perf.compare.WebAxeComparison;
import io.kamille.perf.wan.WanCheck;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** What {@code ./dev bench} runs: a comparison with other servers, or micro-benchmarks by name. */
public final class Bench {

  private static final String HELP =
      """
      ./dev bench hit  [OPTIONS]   a stored response, compared with the floor and other servers
      ./dev bench pass [OPTIONS]   a small response that must not be stored, compared
      ./dev bench coded [OPTIONS]  stored text, as it is and compressed for clients that take gzip, compared
      ./dev bench idle [OPTIONS]   what an idle persistent connection takes of memory, compared
      ./dev bench collapse [OPTIONS]
                                   many misses on one key at once: one origin request, and when
                                   each has its first octet, compared
      ./dev bench slow [OPTIONS]   well-behaved clients beside hundreds that are as slow as they can be, compared
      ./dev bench faults [OPTIONS] an origin that fails, its route and another route, compared
      ./dev bench pacing [OPTIONS] ways of pacing of one Kamille, under load from a clock
      ./dev bench overload [OPTIONS]
                                   goodput and latency when more is asked than can be done,
                                   compared (as root)
      ./dev bench purge            what a purge by tag costs among a million stored responses
      ./dev bench storage          what policies hit on traces, and what a stored response takes
      ./dev bench disk [OPTIONS]   a stored response on the disk, sent from there, compared
      ./dev bench start [OPTIONS]  how soon a process serves that has a million responses on its disk
      ./dev bench webaxe [OPTIONS] the WebAxe-4 mix before an origin: hits against those offered, errors,
                                   CPU time and the highest clean rate, compared with nginx
      ./dev bench wan              how exact the path emulator is on this machine (as root)
      ./dev bench NAME [JMH ARGS]  micro-benchmarks whose name matches a regular expression
      """;

  private static final int USAGE = 64;
  private static final int UNAVAILABLE = 69;

  private Bench() {}

  /** Runs what the first argument names with the other arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length == 0 || arguments[0].startsWith("-")) {
      printHelp();
      return;
    }
    try {
      run(arguments[0], List.of(arguments).subList(1, arguments.length));
    } catch (IllegalArgumentException e) {
      fail(USAGE, e);
    } catch (IOException e) {
      fail(UNAVAILABLE, e);
    }
  }

  private static void run(String name, List<String> arguments)
      throws IOException, InterruptedException {
    switch (name) {
      case "hit" -> RequestComparison.ofHits(REQUESTS.parse(arguments)).run();
      case "overload" -> OverloadComparison.of(arguments).run();
      case "pass" -> RequestComparison.ofPasses(REQUESTS.parse(arguments)).run();
      case "coded" -> RequestComparison.ofCoded(REQUESTS.parse(arguments)).run();
      case "pacing" -> PacingComparison.of(arguments).run();
      case "idle" -> IdleComparison.of(IDLE.parse(arguments)).run();
      case "collapse" -> CollapseComparison.of(COLLAPSE.parse(arguments)).run();
      case "slow" -> SlowComparison.of(SLOW.parse(arguments)).run();
      case "faults" -> FaultComparison.of(FAULTS.parse(arguments)).run();
      case "purge" -> PurgeMeasurement.run();
      case "storage" -> StorageMeasurement.run();
      case "disk" -> RequestComparison.ofDisk(REQUESTS.parse(arguments)).run();
      case "start" -> StartMeasurement.run(arguments);
      case "webaxe" -> WebAxeComparison.of(arguments).run();
      case "wan" -> WanCheck.run();
      default -> runMicro(name, arguments);
    }
  }

  private static void fail(int status, Exception why) {
    System.err.println("bench: " + why.getMessage());
    System.exit(status);
  }

  private static void printHelp() {
    System.out.println(HELP);
    System.out.println(ComparisonOptions.HELP.indent(2));
    System.out.println("Options of pacing:");
    System.out.println(PacingComparison.HELP.indent(2));
    System.out.println("Options of overload:");
    System.out.println(OverloadComparison.HELP.indent(2));
    System.out.println("Options of start:");
    System.out.println(StartMeasurement.HELP.indent(2));
    System.out.println("Options of webaxe:");
    System.out.println(WebAxeComparison.HELP.indent(2));
    System.out.println("Micro-benchmarks:");
    var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    BenchmarkList.defaultList().getAll(silent, List.of()).stream()
        .map(benchmark -> benchmark.getUsername().replaceFirst("^.*?(\\w+\\.\\w+)$", "$1"))
        .sorted()
        .forEach(benchmark -> System.out.println("  " + benchmark));
  }

  private static void runMicro(String name, List<String> arguments) throws IOException {
    var words = new ArrayList<>(Arrays.asList(name, "-prof", "gc"));
    words.addAll(arguments);
    org.openjdk.jmh.Main.main(words.toArray(String[]::new));
  }
}
