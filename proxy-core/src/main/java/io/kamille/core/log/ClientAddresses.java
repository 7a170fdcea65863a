package io.kamille.core.log;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The octets of clients' addresses, kept while they come again. Confined to its loop. */
final class ClientAddresses {

  /*
   * An InetAddress gives its octets only as a new array. Requests of one connection bring the same
   * address object and different connections mostly different ports, so a small table by port,
   * checked by identity, saves the array for all but the first request.
   */
  private static final int SLOTS = 512;
  private static final byte[] UNKNOWN = {};

  private final @Nullable InetSocketAddress[] seen = new @Nullable InetSocketAddress[SLOTS];
  private final byte[][] octets = new byte[SLOTS][];

  /** Four or sixteen octets, or none if the address was never resolved. Do not change. */
  @SuppressWarnings("ReferenceEquality") // another object with the same value may come, and be kept
  byte[] octetsOf(InetSocketAddress client) {
    int slot = client.getPort() & (SLOTS - 1);
    if (seen[slot] != client) {
      InetAddress address = client.getAddress();
      seen[slot] = client;
      octets[slot] = address == null ? UNKNOWN : address.getAddress();
    }
    return octets[slot];
  }
}
