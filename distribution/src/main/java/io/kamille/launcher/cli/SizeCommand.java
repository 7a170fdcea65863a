package io.kamille.launcher.cli;

import io.kamille.core.setting.ByteSize;
import io.kamille.core.setting.TimeSpan;
import io.kamille.launcher.doctor.Need;
import io.kamille.launcher.doctor.Need.Demand;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kamille size}: what a load needs, by what requests cost. */
@Command(name = "size", description = "Tell how many loops and how much memory a load needs.")
final class SizeCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      description = "Requests per second at the busiest time.")
  private @Nullable String rate;

  @Option(
      names = "--object",
      paramLabel = "SIZE",
      description = "Mean length of a response, such as 16KiB.")
  private @Nullable String object;

  @Option(
      names = "--hit-ratio",
      paramLabel = "SHARE",
      description = "Share of the requests answered from the store, such as 0.9 or 90%%.")
  private @Nullable String hitRatio;

  @Option(
      names = "--stored",
      paramLabel = "COUNT",
      description =
          "How many responses are to be kept for that; without it memory is told per response.")
  private @Nullable String stored;

  @Option(
      names = "--think",
      paramLabel = "TIME",
      defaultValue = "100ms",
      description = "How long the origin takes (default: ${DEFAULT-VALUE}).")
  private String think = "";

  @Option(
      names = "--requests-per-connection",
      paramLabel = "COUNT",
      defaultValue = "10",
      description = "Of clients, on average (default: ${DEFAULT-VALUE}).")
  private String requestsPerConnection = "";

  @Option(
      names = "--connection-time",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "How long a client's connection stays open (default: ${DEFAULT-VALUE}).")
  private String connectionTime = "";

  @Option(
      names = "--utilization",
      paramLabel = "SHARE",
      defaultValue = "0.6",
      description = "How busy a loop may be on average (default: ${DEFAULT-VALUE}).")
  private String utilization = "";

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Demand demand = demand();
    print(out, demand, Need.of(demand));
    out.flush();
    return ExitCode.OK;
  }

  private Demand demand() {
    return new Demand(
        positive("--rate", rate, 1e9),
        size("--object", object),
        share("--hit-ratio", hitRatio, 0),
        stored == null ? 0 : (long) positive("--stored", stored, 1e12),
        time("--think", think),
        positive("--requests-per-connection", requestsPerConnection, 1e9),
        time("--connection-time", connectionTime),
        share("--utilization", utilization, 0.01));
  }

  private double positive(String option, @Nullable String text, double greatest) {
    double value = number(option, text);
    if (!(value > 0 && value <= greatest)) {
      throw wrong(option, text, "a number above 0");
    }
    return value;
  }

  private double share(String option, @Nullable String text, double least) {
    String given = given(option, text);
    double value =
        given.endsWith("%")
            ? number(option, given.substring(0, given.length() - 1)) / 100
            : number(option, given);
    if (!(value >= least && value <= 1)) {
      throw wrong(option, text, "a share from " + least + " to 1, or per cent with %");
    }
    return value;
  }

  private double number(String option, @Nullable String text) {
    try {
      return Double.parseDouble(given(option, text));
    } catch (NumberFormatException e) {
      throw wrong(option, text, "a number");
    }
  }

  private long size(String option, @Nullable String text) {
    long bytes = ByteSize.parse(given(option, text)).orElse(-1);
    if (bytes < 0 || bytes > 1L << 40) {
      throw wrong(option, text, "a size up to 1TiB, such as 16KiB");
    }
    return bytes;
  }

  private Duration time(String option, String text) {
    Duration time = TimeSpan.parse(text);
    if (time == null || time.toDays() > 1) {
      throw wrong(option, text, "a time up to a day, such as 100ms");
    }
    return time;
  }

  private String given(String option, @Nullable String text) {
    if (text == null) {
      throw new ParameterException(
          spec.commandLine(),
          option + " is missing; --rate, --object and --hit-ratio say the load");
    }
    return text;
  }

  private ParameterException wrong(String option, @Nullable String text, String expected) {
    return new ParameterException(spec.commandLine(), option + ": " + text + " is not " + expected);
  }

  private static void print(PrintWriter out, Demand demand, Need need) {
    out.printf(
        Locale.ROOT,
        "loops          %d (%d to %d), each %.0f %% busy; %.1f µs a request%n",
        need.loops().middle(),
        need.loops().least(),
        need.loops().greatest(),
        100 * demand.rate() * need.micros() / 1e6 / need.loops().middle(),
        need.micros());
    out.println(
        need.memoryBytes() == 0
            ? String.format(
                Locale.ROOT,
                "memory         %,d octets for each stored response; --stored COUNT sums them up",
                need.bytesPerResponse())
            : String.format(
                Locale.ROOT,
                "memory         %,d MiB (cache.memory.capacity) for %,d stored responses of %,d"
                    + " octets",
                (need.memoryBytes() >> 20) + 1,
                demand.storedResponses(),
                need.bytesPerResponse()));
    out.printf(
        Locale.ROOT,
        "connections    %,d of clients, %,d to origins (limits.connections, max-connections)%n",
        need.clientConnections(),
        need.originConnections());
    int cores = Runtime.getRuntime().availableProcessors();
    if (need.loops().greatest() > cores) {
      out.printf(
          Locale.ROOT, "This machine has %d processors, fewer than the load may need.%n", cores);
    }
  }
}
