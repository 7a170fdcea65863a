package io.kamille.admin.auth;

import io.kamille.core.loop.WallClock;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How often an address may present a wrong secret: ten times a minute. Confined to the control
 * thread.
 */
final class FailureLimit {

  /*
   * A right secret always passes, so nobody can lock others out. An IPv6 client counts by its /64,
   * which is one network.
   */
  private static final int PER_MINUTE = 10;
  private static final int ADDRESSES = 10_000;
  private static final int IPV6_NETWORK_OCTETS = 8;

  private final WallClock clock;
  private final Map<String, Integer> failures = new LinkedHashMap<>();
  private long minute;

  FailureLimit(WallClock clock) {
    this.clock = clock;
  }

  /** Counts a failure; whether there were too many in this minute. */
  boolean isTooOften(InetAddress address) {
    long now = clock.epochSeconds() / 60;
    if (now != minute) {
      failures.clear();
      minute = now;
    }
    String network = network(address);
    if (failures.size() >= ADDRESSES && !failures.containsKey(network)) {
      return true;
    }
    return failures.merge(network, 1, Integer::sum) > PER_MINUTE;
  }

  private static String network(InetAddress address) {
    byte[] octets = address.getAddress();
    return HexFormat.of()
        .formatHex(
            address instanceof Inet6Address ? Arrays.copyOf(octets, IPV6_NETWORK_OCTETS) : octets);
  }
}
