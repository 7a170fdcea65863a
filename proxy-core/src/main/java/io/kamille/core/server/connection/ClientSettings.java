package io.kamille.core.server.connection;

import io.kamille.core.h1.HeadLimits;
import java.time.Duration;

/**
 * How patient and how generous we are with clients.
 *
 * @param head limits of a request head
 * @param roomForHeadsBytes of heap that the heads take of which one loop has only a part; beyond
 *     it, the oldest is 408. As much again is for the large heads of its requests under way; beyond
 *     it, a new one is 503
 * @param headTimeout from the first octet of a head (or the connection's beginning) to its last
 * @param idleTimeout between requests
 * @param contentTimeout without progress while content comes from, or goes to, the client
 * @param tunnelTimeout without an octet either way after an upgrade
 * @param uploadBytesPerSecond content from a client that comes slower is 408; 0 for no limit
 * @param uploadGrace how long content may come slower than that
 * @param downloadBytesPerSecond a client that takes what waits for it slower is closed; 0 for no
 *     limit
 * @param downloadGrace how long it may take it slower than that
 * @param maxContentBytes content of one request; more is 413
 * @param lowWatermarkBytes octets waiting for the client below which the source goes on
 * @param highWatermarkBytes octets waiting for the client above which the source pauses
 * @param refusedCacheStatus {@code Cache-Status} of an answer to a request that no route took;
 *     empty for no such field
 */
public record ClientSettings(
    HeadLimits head,
    long roomForHeadsBytes,
    Duration headTimeout,
    Duration idleTimeout,
    Duration contentTimeout,
    Duration tunnelTimeout,
    long uploadBytesPerSecond,
    Duration uploadGrace,
    long downloadBytesPerSecond,
    Duration downloadGrace,
    long maxContentBytes,
    int lowWatermarkBytes,
    int highWatermarkBytes,
    String refusedCacheStatus) {

  /** What suits most sites. */
  public static final ClientSettings DEFAULT =
      new ClientSettings(
          HeadLimits.REQUEST,
          16 << 20,
          Duration.ofSeconds(10),
          Duration.ofSeconds(75),
          Duration.ofSeconds(30),
          Duration.ofMinutes(10),
          500,
          Duration.ofSeconds(20),
          500,
          Duration.ofSeconds(30),
          Long.MAX_VALUE,
          64 * 1024,
          128 * 1024,
          "");
}
