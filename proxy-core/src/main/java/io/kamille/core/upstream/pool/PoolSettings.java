package io.kamille.core.upstream.pool;

import java.time.Duration;

/**
 * How many connections an origin gets from one loop.
 *
 * @param maxConnections open at a time, the idle ones among them
 * @param maxWaiting requests that may wait for one; more are refused at once
 * @param queueTimeout how long a request may wait for one
 * @param maxIdle kept open without a request
 * @param idleTimeout how long an idle one is kept
 */
public record PoolSettings(
    int maxConnections, int maxWaiting, Duration queueTimeout, int maxIdle, Duration idleTimeout) {

  /**
   * Idle connections are kept for less than the five seconds after which many origins (Node.js,
   * Apache) close theirs: a request that meets a closing connection costs a retry, or fails.
   */
  public static final PoolSettings DEFAULTS =
      new PoolSettings(512, 1024, Duration.ofSeconds(5), 128, Duration.ofSeconds(4));

  public PoolSettings {
    if (maxConnections < 1) {
      throw new IllegalArgumentException(
          "maxConnections: " + maxConnections + " (expected: at least 1)");
    }
    if (maxWaiting < 0 || maxIdle < 0) {
      throw new IllegalArgumentException(
          "maxWaiting: " + maxWaiting + ", maxIdle: " + maxIdle + " (expected: 0 or more)");
    }
    if (!queueTimeout.isPositive() || !idleTimeout.isPositive()) {
      throw new IllegalArgumentException(
          "queueTimeout: "
              + queueTimeout
              + ", idleTimeout: "
              + idleTimeout
              + " (expected: positive)");
    }
  }
}
