package io.kamille.perf.compare;

import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What the WebAxe-4 comparison prints and keeps. */
final class WebAxeReport {

  private static final double QUIET_LOAD = 0.5;
  private static final double POINTS_LIMIT = 0.5;
  private static final double RATE_LIMIT = 1.5;
  private static final String KAMILLE = "kamille";
  private static final String NGINX = "nginx";

  private final WebAxeOptions options;
  private final Map<String, String> facts;
  private final List<String> servers;
  private final List<WebAxeSample> samples = new ArrayList<>();
  private final List<CleanRate> rates = new ArrayList<>();

  WebAxeReport(HostFingerprint fingerprint, Lineup lineup, WebAxeOptions options) {
    this(
        fingerprint.facts(), lineup.contestants().stream().map(Contestant::name).toList(), options);
    lineup.contestants().forEach(each -> facts.put(each.name(), each.peer().version()));
  }

  WebAxeReport(Map<String, String> facts, List<String> servers, WebAxeOptions options) {
    this.options = options;
    this.servers = servers;
    this.facts = new LinkedHashMap<>(facts);
    this.facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "WebAxe-4, working set %d MiB, think time %s, %d connections, open loop, Poisson"
                + " arrivals, %d rounds in turn: %s",
            options.workingSetMib(),
            options.thinks() ? "300 ms on average" : "none",
            options.common().connections(),
            options.common().rounds(),
            String.join(" ", servers)));
  }

  void add(WebAxeSample sample) {
    samples.add(sample);
  }

  void add(CleanRate rate) {
    rates.add(rate);
  }

  /** Something that a reader of the figures must know; it is kept with them. */
  void note(String text) {
    System.out.println("note: " + text);
    facts.merge("note", text, (before, next) -> before + "; " + next);
  }

  void printBeginning() {
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      note("this machine was busy with other things; expect disturbed numbers");
    }
  }

  private List<WebAxeSample> samples(String server) {
    return samples.stream().filter(sample -> sample.server().equals(server)).toList();
  }

  private List<CleanRate> rates(String server) {
    return rates.stream().filter(rate -> rate.server().equals(server)).toList();
  }

  /** Prints what was measured at the fixed rate: medians, with the extremes in parentheses. */
  void printFixed() {
    System.out.println();
    System.out.println(fixedTable());
    samples.stream()
        .filter(sample -> sample.load().isSaturated())
        .forEach(
            sample ->
                note(
                    String.format(
                        Locale.ROOT,
                        "%s, round %d at the fixed rate: client and origin were at the limit of"
                            + " their core or were disturbed (%.0f %% busy, origin %.0f %%)",
                        sample.server(),
                        sample.round(),
                        sample.load().busyRatio() * 100,
                        sample.originCoreShare() * 100)));
    servers.stream()
        .filter(server -> points(server).filter(p -> p.median() > POINTS_LIMIT).isPresent())
        .forEach(
            server ->
                note(
                    server + " has more hits than are offered: it answers reloads from its store"));
  }

  private Table fixedTable() {
    var table =
        new Table(
            String.format(Locale.ROOT, "%,d requests/s", options.rate()),
            "hits %",
            "offered %",
            "points",
            "failed",
            "CPU µs/request",
            "p50 ms",
            "p99 ms",
            "client busy %",
            "origin %");
    for (String server : servers) {
      List<WebAxeSample> rounds = samples(server);
      if (!rounds.isEmpty()) {
        table.row(
            List.of(
                server,
                Spread.of(rounds, sample -> sample.hitRatio() * 100).text(2),
                Spread.of(rounds, sample -> sample.offeredHitRatio() * 100).text(2),
                Spread.of(rounds, WebAxeSample::missedPoints).text(2),
                Long.toString(failed(rounds)),
                Spread.of(rounds, WebAxeSample::cpuMicrosPerRequest).text(1),
                Spread.of(rounds, sample -> sample.load().latencyMicros(50) / 1e3).text(2),
                Spread.of(rounds, sample -> sample.load().latencyMicros(99) / 1e3).text(2),
                median(Spread.of(rounds, sample -> sample.load().busyRatio() * 100)),
                median(Spread.of(rounds, sample -> sample.originCoreShare() * 100))));
      }
    }
    return table;
  }

  private static String median(Spread spread) {
    return String.format(Locale.ROOT, "%.0f", spread.median());
  }

  private static long failed(List<WebAxeSample> rounds) {
    return rounds.stream().mapToLong(sample -> sample.load().failed()).sum();
  }

  /** Prints the clean rates, and where client and origin ended the search. */
  void printClean() {
    System.out.println();
    System.out.println(cleanTable());
    rates.stream().filter(CleanRate::isOthersLimited).forEach(rate -> note(limit(rate)));
  }

  private Table cleanTable() {
    String title =
        String.format(
            Locale.ROOT, "no error, p99 at most %.0f ms", options.p99LimitMicros() / 1000);
    var table = new Table(title, "requests/s", "÷ nginx", "rounds ended by client or origin");
    for (String server : servers) {
      List<CleanRate> rounds = rates(server);
      if (!rounds.isEmpty()) {
        table.row(
            List.of(
                server,
                Spread.of(rounds, CleanRate::rate).text(0),
                ratio(server, NGINX).map(ratio -> ratio.text(2)).orElse("–"),
                rounds.stream().filter(CleanRate::isOthersLimited).count()
                    + " of "
                    + rounds.size()));
      }
    }
    return table;
  }

  private static String limit(CleanRate rate) {
    CleanRate.Limit limit = rate.limit();
    String which = rate.server() + ", round " + rate.round() + ": ";
    if (limit == null) {
      return which + "the search ended before it found a rate that is not clean";
    }
    return which
        + String.format(
            Locale.ROOT,
            "at %,.0f/s client and origin were at the limit of their core or were disturbed (%.0f"
                + " %% busy, origin %.0f %%): the server can do %,.0f/s at least",
            limit.rate(),
            limit.load().busyRatio() * 100,
            limit.originCoreShare() * 100,
            rate.rate());
  }

  /** Hits reached less hits offered, in points; empty if it was not measured. */
  Optional<Spread> points(String server) {
    List<WebAxeSample> rounds = samples(server);
    return rounds.isEmpty()
        ? Optional.empty()
        : Optional.of(Spread.of(rounds, WebAxeSample::missedPoints));
  }

  /** Clean rate as a multiple of another server's, round by round; empty if they never met. */
  Optional<Spread> ratio(String server, String other) {
    double[] ratios =
        rates(server).stream()
            .flatMapToDouble(
                mine ->
                    rates(other).stream()
                        .filter(theirs -> theirs.round() == mine.round() && theirs.rate() > 0)
                        .mapToDouble(theirs -> mine.rate() / theirs.rate()))
            .toArray();
    return ratios.length == 0 ? Optional.empty() : Optional.of(Spread.of(ratios));
  }

  private Optional<Spread> failures(String server) {
    List<WebAxeSample> rounds = samples(server);
    return rounds.isEmpty() ? Optional.empty() : Optional.of(Spread.of((double) failed(rounds)));
  }

  void printGoals() {
    System.out.println();
    System.out.println("Goals of kamille:");
    goals().forEach(goal -> System.out.println("  " + goal));
  }

  /** A line for each goal. */
  List<String> goals() {
    return List.of(
        Goal.verdict(
            "hit ratio within 0.5 points of the offered",
            points(KAMILLE),
            median -> Math.abs(median) <= POINTS_LIMIT),
        Goal.verdict("no error at the fixed rate", failures(KAMILLE), sum -> sum == 0),
        Goal.verdict(
            "clean rate at least 1.50 × nginx",
            ratio(KAMILLE, NGINX),
            median -> median >= RATE_LIMIT));
  }

  String csv() {
    return RawData.csv(facts, WebAxeSample.TITLES, samples.stream().map(WebAxeSample::line));
  }

  String cleanCsv() {
    return RawData.csv(facts, CleanRate.TITLES, rates.stream().map(CleanRate::line));
  }
}
