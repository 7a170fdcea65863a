package io.kamille.admin.live;

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
  HIT_P99("hitP99Millis", true),
  /** The same of all other requests. */
  MISS_P99("missP99Millis", true);

  private final String token;
  private final boolean isPercentile;

  Figure(String token) {
    this(token, false);
  }

  Figure(String token, boolean isPercentile) {
    this.token = token;
    this.isPercentile = isPercentile;
  }

  /** As the API writes it. */
  public String token() {
    return token;
  }

  /** Whether means of it mean nothing: of several seconds the greatest counts. */
  boolean isPercentile() {
    return isPercentile;
  }
}
