package io.kamille.core.upstream;

import io.kamille.core.upstream.h1.ConnectionSettings;
import io.kamille.core.upstream.h1.ForwardingSettings;
import io.kamille.core.upstream.pool.PoolSettings;
import java.time.Duration;

/**
 * How an upstream treats its origins.
 *
 * @param choice how the origin of a request is picked
 * @param connectTimeout for a TCP connection
 * @param retries how often a request that failed may be sent once more, if that is safe
 * @param health when an origin is left alone
 * @param isAdaptive whether each loop finds out how many requests at a time an origin gets, up to
 *     the connections of the pool
 * @param pool how many connections an origin gets
 * @param connection what one connection puts up with
 * @param forwarding what origins are told
 */
public record UpstreamSettings(
    OriginChoice.Kind choice,
    Duration connectTimeout,
    int retries,
    HealthPolicy health,
    boolean isAdaptive,
    PoolSettings pool,
    ConnectionSettings connection,
    ForwardingSettings forwarding) {

  public static final UpstreamSettings DEFAULTS =
      new UpstreamSettings(
          OriginChoice.Kind.POWER_OF_TWO,
          Duration.ofSeconds(1),
          1,
          HealthPolicy.DEFAULTS,
          false,
          PoolSettings.DEFAULTS,
          ConnectionSettings.DEFAULTS,
          ForwardingSettings.DEFAULTS);

  public UpstreamSettings {
    if (!connectTimeout.isPositive() || retries < 0) {
      throw new IllegalArgumentException(
          "connectTimeout: "
              + connectTimeout
              + ", retries: "
              + retries
              + " (expected: positive, 0 or more)");
    }
  }

  /** An origin that is judged by these settings. */
  public Origin origin(String host, int port, int weight) {
    return new Origin(host, port, weight, new OriginHealth(health));
  }

  /**
   * An origin that other settings had before, judged by these from now on: what is known of its
   * health and its addresses goes on. The same object where nothing differs.
   */
  public Origin origin(Origin before, int weight) {
    return before.with(weight, before.health().under(health));
  }
}
