package io.kamille.core.admission;

import io.kamille.core.setting.AddressBits;
import io.kamille.core.setting.AddressRanges;
import java.net.InetAddress;

/**
 * What one client may have at a time. A client is an IPv4 address, or all IPv6 addresses that begin
 * alike: a single machine has at least a /64 of them. Immutable; any thread.
 *
 * @param connections that are open; {@link #NO_LIMIT} for no limit
 * @param requests under way; {@link #NO_LIMIT} for no limit
 * @param ipv6PrefixLength how many bits of an IPv6 address tell clients apart
 * @param unlimited addresses that no limit holds for
 */
public record ClientLimits(
    int connections, int requests, int ipv6PrefixLength, AddressRanges unlimited) {

  public static final int NO_LIMIT = Integer.MAX_VALUE;

  /** No limit for anybody. */
  public static final ClientLimits NONE =
      new ClientLimits(NO_LIMIT, NO_LIMIT, 64, AddressRanges.NONE);

  /** Whether this address need not be counted. */
  boolean isUnlimited(InetAddress address) {
    return (connections == NO_LIMIT && requests == NO_LIMIT) || unlimited.contains(address);
  }

  /** What the client of this address is counted under. */
  AddressBits client(InetAddress address) {
    return client(address, ipv6PrefixLength);
  }

  /** The same for another prefix length. */
  static AddressBits client(InetAddress address, int ipv6PrefixLength) {
    AddressBits bits = AddressBits.of(address);
    return bits.isIpv4() ? bits : bits.prefix(ipv6PrefixLength);
  }
}
