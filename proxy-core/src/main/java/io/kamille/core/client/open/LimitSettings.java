package io.kamille.core.client.open;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.gate.ClientLimits;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * What clients and origins may send, how much of it and how slowly.
 *
 * @param connection what connections of clients keep to
 * @param connections from clients, over all listeners
 * @param idleThreshold share of the connections near which the idle time-out has become shortest
 * @param client what one client may have at a time
 * @param shutdownDelay how long it goes on accepting after the order to stop
 * @param drainDeadline how long exchanges may finish after that
 */
public record LimitSettings(
    ClientSettings connection,
    int connections,
    IdleTimeoutGovernor idleThreshold,
    ClientLimits client,
    Duration shutdownDelay,
    Duration drainDeadline) {

  public static final Section<LimitSettings> SECTION =
      Section.of(
          LimitSettings.class,
          ClientSettings.SECTION.inlined(),
          Setting.of(
                  "connections",
                  ValueTypes.wholeNumber(1, 10_000_000),
                  "The most client connections at once, over all listeners. Every one needs a file"
                      + " descriptor; a request toward an origin needs another. Beyond it, a new"
                      + " connection takes the place of the longest idle one on its loop. Next in"
                      + " line is one that is closing and whose last answer has arrived. Without"
                      + " either, the new connection is closed.")
              .defaultsTo(8_192),
          Setting.of(
                  "idle-threshold",
                  ValueTypes.orWord(
                      "off",
                      IdleTimeoutGovernor.OFF,
                      ValueTypes.positiveRatio()
                          .map(IdleTimeoutGovernor::new, IdleTimeoutGovernor::threshold)),
                  "The share of `limits.connections` that idle connections keep below, or `off`."
                      + " Once half as many are open, `limits.idle-timeout` becomes shorter, the"
                      + " more so the more there are, down to a second when the share is reached."
                      + " The longest idle is closed first, and never within a request.")
              .defaultsTo(new IdleTimeoutGovernor(0.7)),
          ClientLimits.SECTION.one(
              "client",
              "Limits of one client, at a time. A client is an IPv4 address, or a network of IPv6"
                  + " addresses. The client's address is that of the connection, or the one in its"
                  + " PROXY header."),
          Setting.of(
                  "shutdown-delay",
                  ValueTypes.duration(Duration.ZERO, Duration.ofHours(1)),
                  "How long Kamille accepts connections after the order to stop, while `/readyz`"
                      + " answers 503. A load balancer that asks for it needs that time.")
              .defaultsTo(Duration.ZERO),
          Setting.of(
                  "drain-deadline",
                  ValueTypes.duration(Duration.ZERO, Duration.ofHours(24)),
                  "How long exchanges may go on after the listeners are closed. Exchanges left"
                      + " then are cut off.")
              .defaultsTo(Duration.ofSeconds(30)));
}
