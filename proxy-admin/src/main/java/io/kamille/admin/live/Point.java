package io.kamille.admin.live;

import java.util.LinkedHashMap;
import java.util.Map;

/** All figures of one second. Immutable. */
public final class Point {

  private final double[] values;

  Point(double[] values) {
    this.values = values.clone();
  }

  double value(Figure figure) {
    return values[figure.ordinal()];
  }

  /** The figures by the name that the API gives them, to a thousandth. */
  public Map<String, Double> named() {
    Map<String, Double> named = new LinkedHashMap<>();
    for (Figure figure : Figure.values()) {
      named.put(figure.token(), Math.round(value(figure) * 1000) / 1000.0);
    }
    return named;
  }
}
