package io.kamille.admin.live;

import java.util.LinkedHashMap;
import java.util.Map;

/** What is kept of each second. */
public enum Figure {
  /** Requests that were answered, per second. */
  REQUESTS("requestsPerSecond"),
  /** Requests that were answered from the cache, per second. */
  HITS("hitsPerSecond"),
  /** Requests that origins failed to answer, per second. */
  FAILURES("failuresPerSecond"),
  /** Client connections. */
  CONNECTIONS("connections"),
  /** Octets the cache holds. */
  MEMORY("memoryBytes"),
  /** Processors the loops use. */
  PROCESSORS("processors"),
  /** How long 99 of 100 hits took at most, in milliseconds; 0 without a hit. */
  HIT_P99("hitP99Millis"),
  /** The same of all other requests. */
  MISS_P99("missP99Millis");

  private final String token;

  Figure(String token) {
    this.token = token;
  }

  /** Figures of one second as the API writes them, to a thousandth. */
  public static Map<String, Double> named(Map<Figure, Double> point) {
    Map<String, Double> named = new LinkedHashMap<>();
    point.forEach((figure, value) -> named.put(figure.token, Math.round(value * 1000) / 1000.0));
    return named;
  }

  /** As the API writes it. */
  String token() {
    return token;
  }

  /** Whether means of it mean nothing: of several seconds the greatest counts. */
  boolean isPercentile() {
    return this == HIT_P99 || this == MISS_P99;
  }
}
