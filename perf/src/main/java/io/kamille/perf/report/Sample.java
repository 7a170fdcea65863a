package io.kamille.perf.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One server in one situation in one round: the figures that were measured, in the order in which
 * they were added, which is that of the columns of the raw data. Confined while it is filled.
 */
public final class Sample {

  private final String situation;
  private final String server;
  private final int round;
  private final Map<String, Object> values = new LinkedHashMap<>();

  private Sample(String situation, String server, int round) {
    this.situation = situation;
    this.server = server;
    this.round = round;
  }

  /**
   * A sample without figures.
   *
   * @param situation a row of tables, or a table of its own: what is asked for, how fast
   * @param server a server, or one way in which a server works
   * @param round counted from 1; figures are compared within a round
   */
  public static Sample of(String situation, String server, int round) {
    return new Sample(situation, server, round);
  }

  /**
   * Adds a figure, and returns this sample.
   *
   * @param value a number, a truth value, a text, or an {@link OptionalDouble}; an empty one leaves
   *     the column empty
   */
  public Sample with(Figure figure, Object value) {
    Object kept = value;
    if (value instanceof OptionalDouble number) {
      kept = number.isPresent() ? (Object) number.getAsDouble() : "";
    }
    if (values.put(figure.name(), kept) != null) {
      throw new IllegalArgumentException(figure.name() + ": twice in a sample");
    }
    return this;
  }

  public String situation() {
    return situation;
  }

  public String server() {
    return server;
  }

  public int round() {
    return round;
  }

  /** A computed or measured figure; NaN if it is not known. */
  public double of(Figure figure) {
    return figure.read().applyAsDouble(this);
  }

  /** Whether a truth value holds. */
  public boolean is(Figure figure) {
    return value(figure.name()).equals(true);
  }

  /** A measured figure as text. */
  public String text(Figure figure) {
    return String.valueOf(value(figure.name()));
  }

  double number(String name) {
    return switch (value(name)) {
      case Number number -> number.doubleValue();
      case Boolean claim -> claim ? 1 : 0;
      default -> Double.NaN;
    };
  }

  private Object value(String name) {
    Object value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": not in a sample of " + values.keySet());
    }
    return value;
  }

  /** The titles of the figures, for raw data. */
  String titles() {
    return String.join(",", values.keySet());
  }

  /** The figures, for raw data. */
  String line() {
    return values.values().stream().map(Sample::cell).collect(Collectors.joining(","));
  }

  /** A cell of raw data; text that holds a comma is quoted (RFC 4180). */
  static String cell(Object value) {
    String text = value instanceof Double number && number.isNaN() ? "" : String.valueOf(value);
    return Stream.of(",", "\"", "\n").anyMatch(text::contains)
        ? '"' + text.replace("\"", "\"\"") + '"'
        : text;
  }
}
