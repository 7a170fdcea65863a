package io.kamille.core.origin;

import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
 * @param proxyProtocol what origins are told of the client before a request
 */
public record ConnectionSettings(
    Duration headTimeout,
    Duration contentTimeout,
    Duration tunnelTimeout,
    Duration continueTimeout,
    int receiveBufferBytes,
    ProxyAnnouncement proxyProtocol) {

  public static final Setting<ProxyAnnouncement> PROXY_PROTOCOL =
      Setting.of(
              "proxy-protocol",
              ValueTypes.oneOf(ProxyAnnouncement.values()),
              "Whether origins learn the client's address by a PROXY header, of version 1 or 2."
                  + " Then each request has a connection of its own, in HTTP/1.1. The header comes"
                  + " before TLS.")
          .defaultsTo(ProxyAnnouncement.OFF);

  /** The settings of an upstream; {@code limits} may say the rest. */
  public static final Section<ConnectionSettings> SECTION =
      Section.of(
          ConnectionSettings.class,
          Setting.of(
                  "head-timeout",
                  ValueTypes.timeout(),
                  "How long an origin may take from the end of the request to the end of the"
                      + " response head, whatever interim responses come before it. Afterwards the"
                      + " client gets 504.")
              .defaultsTo(Duration.ofSeconds(60)),
          Setting.of(
                  "content-timeout",
                  ValueTypes.timeout(),
                  "How long content from or to an origin may stand still. Time in which the client"
                      + " is the slow one does not count.")
              .defaultsTo(Duration.ofSeconds(60)),
          Row.fixed(Duration.ofHours(1)),
          Row.fixed(Duration.ofSeconds(1)),
          Row.fixed(256 * 1024),
          PROXY_PROTOCOL);

  public static final ConnectionSettings DEFAULTS = SECTION.defaults();

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

  /** The same with the timeouts of a route, where it has any. */
  public ConnectionSettings ofRoute(@Nullable Duration head, @Nullable Duration content) {
    return new ConnectionSettings(
        head == null ? headTimeout : head,
        content == null ? contentTimeout : content,
        tunnelTimeout,
        continueTimeout,
        receiveBufferBytes,
        proxyProtocol);
  }

  /** The same with the timeout that holds for all tunnels. */
  public ConnectionSettings within(Duration otherTunnelTimeout) {
    return new ConnectionSettings(
        headTimeout,
        contentTimeout,
        otherTunnelTimeout,
        continueTimeout,
        receiveBufferBytes,
        proxyProtocol);
  }
}
