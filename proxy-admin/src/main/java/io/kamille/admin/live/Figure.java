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
  PROCESSORS("processors");

  private final String token;

  Figure(String token) {
    this.token = token;
  }

  /** As the API writes it. */
  public String token() {
    return token;
  }
}
