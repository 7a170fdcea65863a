package io.kamille.perf.load;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * How an {@link OpenLoopClient} asks.
 *
 * @param server where it connects to
 * @param connections how many there may be at once
 * @param usesPerConnection after how many requests a connection is given up; 1 is non-persistent
 * @param timeLimit from when a request should be sent to when its response is complete
 * @param mayYield whether a client with nothing to do offers its core to others: when something
 *     that the measurement needs, an origin, runs on it too
 */
public record LoadSettings(
    InetSocketAddress server,
    int connections,
    int usesPerConnection,
    Duration timeLimit,
    boolean mayYield) {

  private static final Duration TIME_LIMIT = Duration.ofSeconds(2);

  /** Checks. */
  public LoadSettings {
    if (connections < 1) {
      throw new IllegalArgumentException("connections: " + connections + " (expected: 1 or more)");
    }
    if (usesPerConnection < 1) {
      throw new IllegalArgumentException("uses: " + usesPerConnection + " (expected: 1 or more)");
    }
    if (!timeLimit.isPositive()) {
      throw new IllegalArgumentException("timeLimit: " + timeLimit + " (expected: more than zero)");
    }
  }

  /** Persistent connections to a loopback port, on a core of their own. */
  public static LoadSettings persistent(int port, int connections) {
    var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    return new LoadSettings(server, connections, Integer.MAX_VALUE, TIME_LIMIT, false);
  }

  /** The same with a limit of uses. */
  public LoadSettings withUsesPerConnection(int uses) {
    return new LoadSettings(server, connections, uses, timeLimit, mayYield);
  }

  /** The same with another limit of time. */
  public LoadSettings withTimeLimit(Duration limit) {
    return new LoadSettings(server, connections, usesPerConnection, limit, mayYield);
  }

  /** The same on a core shared with what the measurement needs. */
  public LoadSettings onSharedCore() {
    return new LoadSettings(server, connections, usesPerConnection, timeLimit, true);
  }

  boolean arePersistent() {
    return usesPerConnection > 1;
  }
}
