package io.kamille.perf.compare;

import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What a comparison prints and keeps. */
final class ComparisonReport {

  private static final List<String> YARDSTICKS = List.of("floor", "haproxy", "nginx");
  private static final double QUIET_LOAD = 0.5;
  private static final double DISTURBED_RATIO = 0.1;

  private final Map<String, String> facts;
  private final List<String> servers;
  private final Samples samples;

  ComparisonReport(
      HostFingerprint fingerprint, Lineup lineup, ComparisonOptions options, Samples samples) {
    this.facts = new LinkedHashMap<>(fingerprint.facts());
    this.servers = lineup.contestants().stream().map(Contestant::name).toList();
    this.samples = samples;
    lineup.contestants().forEach(each -> facts.put(each.name(), each.peer().version()));
    facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "%d rounds of %d s, %d connections, closed loop, in turn: %s",
            options.rounds(),
            options.seconds(),
            options.connections(),
            String.join(" ", servers)));
  }

  void printBeginning() {
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      System.out.println("note: this machine is busy with other things; expect disturbed numbers");
    }
  }

  /** Prints the table of one subject: medians, with the extremes in parentheses. */
  void print(Subject subject) {
    System.out.println();
    System.out.println(table(subject));
    double disturbed =
        samples.all().stream()
            .filter(sample -> sample.subject().equals(subject))
            .mapToDouble(Sample::disturbedRatio)
            .max()
            .orElse(0);
    if (disturbed > DISTURBED_RATIO) {
      System.out.printf(
          Locale.ROOT,
          "note: in one round %.0f %% of the busy core was not the server's%n",
          disturbed * 100);
    }
  }

  private Table table(Subject subject) {
    var table =
        new Table(
            subject.label(),
            "CPU µs/request",
            "user",
            "kernel",
            "÷ floor",
            "÷ haproxy",
            "÷ nginx",
            "requests/s",
            "p99 ms",
            "MiB",
            "garbage B");
    for (String server : servers) {
      List<Sample> rounds = samples.of(server, subject);
      if (!rounds.isEmpty()) {
        table.row(row(server, subject, rounds));
      }
    }
    return table;
  }

  private List<String> row(String server, Subject subject, List<Sample> rounds) {
    var ratios =
        YARDSTICKS.stream()
            .map(other -> samples.ratio(server, other, subject).map(r -> r.text(2)).orElse("–"))
            .toList();
    return List.of(
        server,
        Spread.of(rounds, Sample::cpuMicrosPerRequest).text(2),
        median(rounds, Sample::userMicrosPerRequest, 2),
        median(rounds, Sample::kernelMicrosPerRequest, 2),
        ratios.get(0),
        ratios.get(1),
        ratios.get(2),
        median(rounds, sample -> sample.load().requestsPerSecond(), 0),
        median(rounds, sample -> sample.load().p99Micros() / 1e3, 2),
        median(rounds, sample -> sample.memory().proportionalBytes() / 1048576.0, 0),
        median(rounds, Sample::garbageBytesPerRequest, 0));
  }

  private static String median(
      List<Sample> rounds, ToDoubleFunction<Sample> property, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", Spread.of(rounds, property).median());
  }

  void print(List<Goal> goals) {
    System.out.println();
    System.out.println("Goals of kamille; multiples are of CPU time per request:");
    goals.forEach(goal -> System.out.println("  " + goal.verdict(samples)));
  }

  Map<String, String> facts() {
    return facts;
  }
}
