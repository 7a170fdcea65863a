package io.kamille.perf;

import io.kamille.perf.compare.PacingComparison;
import io.kamille.perf.compare.RequestComparison;
import io.kamille.perf.compare.SlowComparison;
import io.kamille.perf.compare.StartComparison;
import io.kamille.perf.compare.WebAxeComparison;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What {@code ./dev bench} runs: a comparison with other servers, or micro-benchmarks by name. */
@Command(name = "bench", synopsisSubcommandLabel = "NAME")
public final class Bench {

  private Bench() {}

  /** Runs what the first argument names with the other arguments. */
  public static void main(String[] arguments) throws IOException {
    CommandLine program = program();
    List<String> words = List.of(arguments);
    if (words.isEmpty() || List.of("-h", "--help", "help").contains(words.getFirst())) {
      program.usage(System.out);
      System.out.println("\n./dev bench NAME -h: the options of one");
      printMicro();
    } else if (program.getSubcommands().containsKey(words.getFirst())) {
      Program.run(program, arguments);
    } else {
      org.openjdk.jmh.Main.main(micro(words));
    }
  }

  static CommandLine program() {
    var program = new CommandLine(new Bench());
    add(program, "peers", "everything beside other servers", RequestComparison.ofAll());
    add(program, "hit", "of that: a stored response", RequestComparison.ofHits());
    add(program, "pass", "of that: one that must not be stored", RequestComparison.ofPasses());
    add(program, "h2", "of that: all over TLS, HTTP/2 and 1.1", RequestComparison.ofH2());
    add(program, "slow", "clients beside hundreds of slow ones", new SlowComparison());
    add(program, "pacing", "ways of pacing of one Kamille", new PacingComparison());
    add(program, "webaxe", "the WebAxe-4 mix before an origin", new WebAxeComparison());
    add(program, "start", "a new process: first answer, minutes after", new StartComparison());
    return program;
  }

  private static void add(CommandLine program, String name, String what, Object command) {
    var subcommand = new CommandLine(command);
    subcommand.getCommandSpec().usageMessage().description(what);
    subcommand.getCommandSpec().mixinStandardHelpOptions(true);
    subcommand.setCaseInsensitiveEnumValuesAllowed(true);
    program.addSubcommand(name, subcommand);
  }

  private static void printMicro() {
    System.out.println("\n./dev bench NAME [JMH ARGS]: micro-benchmarks that match a name");
    var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    BenchmarkList.defaultList().getAll(silent, List.of()).stream()
        .map(benchmark -> benchmark.getUsername().replaceFirst("^.*?(\\w+\\.\\w+)$", "$1"))
        .sorted()
        .forEach(benchmark -> System.out.println("  " + benchmark));
  }

  /** What JMH is told: a pattern of names, then its options. */
  static String[] micro(List<String> arguments) {
    var words = new ArrayList<>(List.of(arguments.getFirst(), "-prof", "gc"));
    words.addAll(arguments.subList(1, arguments.size()));
    return words.toArray(String[]::new);
  }
}
