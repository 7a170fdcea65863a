package io.kamille.perf.load;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * How an {@link LoadClient} asks.
 *
 * @param server where it connects to
 * @param connections how many there may be at once
 * @param arePersistent whether connections are opened beforehand and used more than once
 * @param uses draws, for each connection, after how many requests it is given up
 * @param timeLimit from when a request should be sent to when its response is complete
 * @param idle what a client does, on its thread, in a turn in which it has nothing to do; short, as
 *     a request that becomes due meanwhile is late
 * @param isAskingAgain whether a request that meets the end of a persistent connection, before any
 *     octet of an answer, is sent again on a new one (RFC 9112 §9.3.1)
 * @param locals the addresses of the connections, one for each; empty for any
 */
public record LoadSettings(
    InetSocketAddress server,
    int connections,
    boolean arePersistent,
    IntSupplier uses,
    Duration timeLimit,
    Runnable idle,
    boolean isAskingAgain,
    List<String> locals) {

  private static final Duration TIME_LIMIT = Duration.ofSeconds(2);

  /** Checks. */
  public LoadSettings {
    if (connections < 0) {
      throw new IllegalArgumentException("connections: " + connections + " (expected: 0 or more)");
    }
    if (!timeLimit.isPositive()) {
      throw new IllegalArgumentException("timeLimit: " + timeLimit + " (expected: more than zero)");
    }
    if (!locals.isEmpty() && locals.size() != connections) {
      throw new IllegalArgumentException(
          "locals: " + locals.size() + " (expected: " + connections + " or none)");
    }
  }

  /** Persistent connections to a loopback port, on a core of their own. */
  public static LoadSettings persistent(int port, int connections) {
    var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    return new LoadSettings(
        server,
        connections,
        true,
        () -> Integer.MAX_VALUE,
        TIME_LIMIT,
        Thread::onSpinWait,
        false,
        List.of());
  }

  /** A connection for each of these addresses, opened when it is needed; somebody else waits. */
  static LoadSettings from(InetSocketAddress server, List<String> locals, int uses) {
    return new LoadSettings(
        server, locals.size(), false, () -> uses, TIME_LIMIT, () -> {}, false, locals);
  }

  /** The same to another server. */
  public LoadSettings to(InetSocketAddress other) {
    return copy(other, arePersistent, uses, timeLimit, idle, isAskingAgain);
  }

  /** The same with a limit of uses. */
  public LoadSettings withUsesPerConnection(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("uses: " + limit + " (expected: 1 or more)");
    }
    return copy(server, limit > 1, () -> limit, timeLimit, idle, isAskingAgain);
  }

  /** The same with a limit of its own for each connection, drawn when it is opened. */
  public LoadSettings withUses(IntSupplier drawn) {
    return copy(server, true, drawn, timeLimit, idle, isAskingAgain);
  }

  /** The same with another limit of time. */
  public LoadSettings withTimeLimit(Duration limit) {
    return copy(server, arePersistent, uses, limit, idle, isAskingAgain);
  }

  /** The same on a core shared with what the measurement needs, an origin. */
  public LoadSettings onSharedCore() {
    return withIdle(LoadSettings::offerCore);
  }

  /** The same with something else to do in between. */
  public LoadSettings withIdle(Runnable work) {
    return copy(server, arePersistent, uses, timeLimit, work, isAskingAgain);
  }

  /** The same, which asks again what met the end of its connection. */
  public LoadSettings askingAgain() {
    return copy(server, arePersistent, uses, timeLimit, idle, true);
  }

  private LoadSettings copy(
      InetSocketAddress to,
      boolean persist,
      IntSupplier drawn,
      Duration limit,
      Runnable work,
      boolean askAgain) {
    return new LoadSettings(to, connections, persist, drawn, limit, work, askAgain, locals);
  }

  /** Offers the core of the calling thread to others. */
  @SuppressWarnings("ThreadPriorityCheck") // Only offers the core; nothing relies on it.
  public static void offerCore() {
    Thread.yield();
  }
}
