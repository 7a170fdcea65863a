package io.kamille.core.upstream.h1;

import io.kamille.core.h1.HeadLimits;
import java.time.Duration;

/**
 * What one connection to an origin puts up with. Time-outs are looked at a few times a second and
 * may strike up to an eighth of the shortest later than they say.
 *
 * @param headTimeout from the end of the request to the end of the head of its final response,
 *     however many octets and interim responses come in between
 * @param contentTimeout between two octets of content, in either direction, when we wait for them
 * @param tunnelTimeout between two octets of a tunnel, in either direction
 * @param continueTimeout how long the content waits for a {@code 100 (Continue)} that the client
 *     asked for, and an origin need not send (RFC 9110 §10.1.1)
 * @param receiveBufferBytes SO_RCVBUF: what the kernel may hold of a response for a client that is
 *     too slow. Netty reads all of it once the origin has closed
 * @param headLimits how large a response head may be
 */
public record ConnectionSettings(
    Duration headTimeout,
    Duration contentTimeout,
    Duration tunnelTimeout,
    Duration continueTimeout,
    int receiveBufferBytes,
    HeadLimits headLimits) {

  public static final ConnectionSettings DEFAULTS =
      new ConnectionSettings(
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          Duration.ofHours(1),
          Duration.ofSeconds(1),
          256 * 1024,
          HeadLimits.RESPONSE);

  public ConnectionSettings {
    if (!headTimeout.isPositive()
        || !contentTimeout.isPositive()
        || !tunnelTimeout.isPositive()
        || !continueTimeout.isPositive()) {
      throw new IllegalArgumentException("a time-out of zero or less (expected: positive)");
    }
    if (receiveBufferBytes < 4096) {
      throw new IllegalArgumentException(
          "receiveBufferBytes: " + receiveBufferBytes + " (expected: at least 4096)");
    }
  }
}
