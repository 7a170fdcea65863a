package io.kamille.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The benches and experiments that pages name can be run as they say. */
class LogCommandsTest {

  private static final Pattern COMMAND =
      Pattern.compile("\\./dev (bench|lab) ([^`\\n|]+?)(?=`|\\n|\\||  )");

  /** What an entry of the log says whose bench was deleted. */
  private static final String GONE = "Its bench is gone";

  /** Stands for any name. */
  private static final String NAME = "NAME";

  static Stream<String> commands() throws IOException {
    Path root = Checkout.find().root();
    try (Stream<Path> log = Files.walk(root.resolve("perf/log"));
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      Stream<Path> others =
          Stream.of("README.md", "CONTRIBUTING.md", "perf/README.md").map(root::resolve);
      return Stream.of(log, docs, others)
          .flatMap(pages -> pages)
          .filter(page -> page.toString().endsWith(".md"))
          .flatMap(LogCommandsTest::commandsOf)
          .distinct()
          .toList()
          .stream();
    }
  }

  private static Stream<String> commandsOf(Path page) {
    try {
      String text = Files.readString(page);
      return text.contains(GONE)
          ? Stream.empty()
          : COMMAND.matcher(text).results().map(MatchResult::group);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theProgramTakesACommandOfAPage(String command) throws Exception {
    List<String> words = List.of(command.replace("'", "").strip().split(" +", -1));
    List<String> arguments = words.subList(2, words.size());
    var program = words.get(1).equals("lab") ? Lab.program() : Bench.program();
    if (arguments.getFirst().equals(NAME)) {
      return;
    }
    if (words.get(1).equals("lab") || program.getSubcommands().containsKey(arguments.getFirst())) {
      assertThatCode(() -> program.parseArgs(arguments.toArray(String[]::new)))
          .doesNotThrowAnyException();
    } else {
      assertThat(benchmarks(arguments)).isNotEmpty();
    }
  }

  private static Set<?> benchmarks(List<String> arguments) throws Exception {
    var options = new CommandLineOptions(Bench.micro(arguments));
    var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    return BenchmarkList.defaultList().find(silent, options.getIncludes(), options.getExcludes());
  }
}
