package io.kamille.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleBinaryOperator;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All rounds of a comparison: read as tables, ratios and raw data. Any thread. */
public final class Samples {

  private final String situationTitle;
  private final String serverTitle;
  private final List<Sample> all = new CopyOnWriteArrayList<>();

  /**
   * No samples yet.
   *
   * @param situationTitle of the first column of the raw data; empty if there is one situation only
   * @param serverTitle of the next
   */
  public Samples(String situationTitle, String serverTitle) {
    this.situationTitle = situationTitle;
    this.serverTitle = serverTitle;
  }

  /** Samples of servers. */
  public Samples(String situationTitle) {
    this(situationTitle, "server");
  }

  /** Adds what one round gave. */
  public void add(Sample sample) {
    all.add(sample);
  }

  public List<Sample> all() {
    return List.copyOf(all);
  }

  /** The rounds of all servers in one situation, in order. */
  public List<Sample> of(String situation) {
    return all.stream().filter(one -> one.situation().equals(situation)).toList();
  }

  /** The rounds of one server in one situation, in order. */
  public List<Sample> of(String situation, String server) {
    return of(situation).stream().filter(one -> one.server().equals(server)).toList();
  }

  /** Those of which that is true. */
  public Samples where(Predicate<Sample> isWanted) {
    var some = new Samples(situationTitle, serverTitle);
    all.stream().filter(isWanted).forEach(some::add);
    return some;
  }

  /** All situations, in the order in which they were measured first. */
  public List<String> situations() {
    return all.stream().map(Sample::situation).distinct().toList();
  }

  /** All servers, in the order in which they were measured first. */
  public List<String> servers() {
    return all.stream().map(Sample::server).distinct().toList();
  }

  /** Whether a truth value holds in any round. */
  public boolean any(Figure figure) {
    return all.stream().anyMatch(one -> one.is(figure));
  }

  /** A figure of all rounds in which it is known; empty if there are none. */
  public Optional<Spread> spread(Figure figure, String situation, String server) {
    return spread(of(situation, server).stream().map(one -> one.of(figure)));
  }

  /** Its median; NaN if no round knows it. */
  public double median(Figure figure, String situation, String server) {
    return spread(figure, situation, server).map(Spread::median).orElse(Double.NaN);
  }

  /** A figure as a multiple of another server's. */
  public Optional<Spread> ratio(Figure figure, String situation, String server, String other) {
    return paired(figure, of(situation, server), of(situation, other), (mine, its) -> mine / its);
  }

  /** A figure less another server's. */
  public Optional<Spread> difference(Figure figure, String situation, String server, String other) {
    return paired(figure, of(situation, server), of(situation, other), (mine, its) -> mine - its);
  }

  /** A figure as a multiple of what it was in another situation. */
  public Optional<Spread> multiple(Figure figure, String server, String situation, String other) {
    return paired(figure, of(situation, server), of(other, server), (mine, its) -> mine / its);
  }

  /** Round by round, so that what disturbs both in a round cancels out; empty if they never met. */
  private static Optional<Spread> paired(
      Figure figure, List<Sample> ours, List<Sample> theirs, DoubleBinaryOperator by) {
    return spread(
        ours.stream()
            .flatMap(
                mine ->
                    theirs.stream()
                        .filter(its -> its.round() == mine.round())
                        .map(its -> by.applyAsDouble(mine.of(figure), its.of(figure)))));
  }

  private static Optional<Spread> spread(Stream<Double> values) {
    double[] known = values.mapToDouble(Double::doubleValue).filter(Double::isFinite).toArray();
    return known.length == 0 ? Optional.empty() : Optional.of(Spread.of(known));
  }

  /**
   * The table of one situation, a row for each server that was measured in it.
   *
   * @param title above the servers
   */
  public Table table(String title, String situation, List<Column> columns) {
    Stream<String> titles = Stream.concat(Stream.of(title), columns.stream().map(Column::title));
    var table = new Table(titles.toArray(String[]::new));
    for (String server : servers()) {
      List<Sample> rounds = of(situation, server);
      if (!rounds.isEmpty()) {
        table.row(row(server, new Column.Rounds(this, situation, server, rounds), columns));
      }
    }
    return table;
  }

  /**
   * One table of everything, a row for each server in each situation, in the order in which they
   * were measured first.
   *
   * @param title above the servers
   * @param situations above the situations, in the second column
   */
  public Table wholeTable(String title, String situations, List<Column> columns) {
    Stream<String> titles =
        Stream.concat(Stream.of(title, situations), columns.stream().map(Column::title));
    var table = new Table(titles.toArray(String[]::new));
    for (String situation : situations()) {
      for (List<String> row : table(title, situation, columns).rows().stream().skip(1).toList()) {
        var cells = new ArrayList<>(row);
        cells.add(1, situation);
        table.row(cells);
      }
    }
    return table;
  }

  private static List<String> row(String first, Column.Rounds rounds, List<Column> columns) {
    Stream<String> cells = columns.stream().map(column -> column.text().apply(rounds));
    return Stream.concat(Stream.of(first), cells).toList();
  }

  /** The facts as comments, the titles, and a line for each sample. */
  public String csv(Map<String, String> facts) {
    Stream<String> comments =
        facts.entrySet().stream().map(fact -> "# " + fact.getKey() + ": " + fact.getValue());
    Stream<String> titles = all.stream().limit(1).map(this::titles);
    return Stream.of(comments, titles, all.stream().map(this::line))
        .flatMap(lines -> lines)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  /** The titles of the raw data of this sample and those like it. */
  public String titles(Sample sample) {
    return prefix(situationTitle) + serverTitle + ",round," + sample.titles();
  }

  /** The raw data of one sample. */
  public String line(Sample sample) {
    String situation = situationTitle.isEmpty() ? "" : Sample.cell(sample.situation());
    return prefix(situation)
        + Sample.cell(sample.server())
        + ","
        + sample.round()
        + ","
        + sample.line();
  }

  private String prefix(String first) {
    return situationTitle.isEmpty() ? "" : first + ",";
  }
}
