package io.kamille.admin;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where and how the control plane listens. Immutable.
 *
 * @param address port 0 takes any free one
 * @param mayBeRemote whether an address beyond loopback is meant: the token travels in clear
 * @param tokenFile holds the bearer token; created if missing
 * @param answerLimit the longest from accept or one complete answer to the next, before the
 *     connection is closed
 */
public record AdminSettings(
    InetSocketAddress address, boolean mayBeRemote, Path tokenFile, Duration answerLimit) {

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(75);

  public AdminSettings {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("admin address: " + address + " (expected: resolved)");
    }
    if (!address.getAddress().isLoopbackAddress() && !mayBeRemote) {
      throw new IllegalArgumentException(
          "admin address: "
              + address.getHostString()
              + " (expected: a loopback address, as tokens travel in clear; or allow remote use)");
    }
  }

  /** On a loopback address, with the usual limits. */
  public static AdminSettings of(InetSocketAddress address, Path tokenFile) {
    return of(address, false, tokenFile);
  }

  /** With the usual limits, on a loopback address or, if that is meant, on another. */
  public static AdminSettings of(InetSocketAddress address, boolean mayBeRemote, Path tokenFile) {
    return new AdminSettings(address, mayBeRemote, tokenFile, ANSWER_LIMIT);
  }
}
