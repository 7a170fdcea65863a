package io.kamille.core.gate;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.net.InetAddress;

/**
 * What one client may have at a time. A client is an IPv4 address, or all IPv6 addresses that begin
 * alike: a single machine has at least a /64 of them. Immutable; any thread.
 *
 * @param connections that are open; {@link #NO_LIMIT} for no limit
 * @param requests under way; {@link #NO_LIMIT} for no limit
 * @param unlimited addresses that no limit holds for
 */
public record ClientLimits(int connections, int requests, AddressRanges unlimited) {

  public static final int NO_LIMIT = Integer.MAX_VALUE;

  /** How many bits of an IPv6 address tell clients apart. */
  private static final int IPV6_PREFIX_LENGTH = 64;

  /** The settings under {@code limits.client}. */
  public static final Section<ClientLimits> SECTION =
      Section.of(
          ClientLimits.class,
          Setting.of(
                  "connections",
                  ValueTypes.orWord("none", NO_LIMIT, ValueTypes.wholeNumber(1, 10_000_000)),
                  "The most connections of one client at once, over all listeners, or `none` for no"
                      + " such limit. Those of trusted proxies are not counted. One more is closed as soon as it is accepted; no idle"
                      + " connection yields to it. Connections that came before there was a limit"
                      + " are not counted.")
              .defaultsTo(NO_LIMIT),
          Setting.of(
                  "requests",
                  ValueTypes.orWord("none", NO_LIMIT, ValueTypes.wholeNumber(1, 10_000_000)),
                  "The most requests of one client under way at once, over all listeners, or `none`"
                      + " for no such limit. One more is answered with 429, whatever it is for. A"
                      + " request is under way until its answer has been handed to its connection,"
                      + " a tunnel until it ends.")
              .defaultsTo(NO_LIMIT),
          Setting.of(
                  "unlimited",
                  AddressRanges.TYPE,
                  "Addresses and ranges (CIDR) that these limits do not hold for: load balancers,"
                      + " whose address stands for all who come through them.")
              .defaultsTo("none", client -> AddressRanges.NONE));

  /** No limit for anybody. */
  public static final ClientLimits NONE = SECTION.defaults();

  /** Whether this address need not be counted. */
  boolean isUnlimited(InetAddress address) {
    return (connections == NO_LIMIT && requests == NO_LIMIT) || unlimited.contains(address);
  }

  /** What the client of this address is counted under. */
  static AddressBits client(InetAddress address) {
    AddressBits bits = AddressBits.of(address);
    return bits.isIpv4() ? bits : bits.prefix(IPV6_PREFIX_LENGTH);
  }
}
