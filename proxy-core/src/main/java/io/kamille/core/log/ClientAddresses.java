package io.kamille.core.log;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.core.gate.AddressMask;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Clients' addresses as text, kept while they come again. Confined to its loop. */
final class ClientAddresses {

  /*
   * Requests of one connection bring the same address object and different connections mostly
   * different ports, so a small table by port, checked by identity, saves the text for all but the
   * first request.
   */
  private static final int SLOTS = 512;
  static final byte[] UNKNOWN = {};

  private final AddressMask shown;
  private final @Nullable InetSocketAddress[] seen = new @Nullable InetSocketAddress[SLOTS];
  private final byte[][] texts = new byte[SLOTS][];

  ClientAddresses(AddressMask shown) {
    this.shown = shown;
  }

  /** The text in ASCII, empty if the address was never resolved. Do not change. */
  @SuppressWarnings("ReferenceEquality") // another object with the same value may come, and be kept
  byte[] textOf(InetSocketAddress client) {
    int slot = client.getPort() & (SLOTS - 1);
    if (seen[slot] != client) {
      InetAddress address = client.getAddress();
      seen[slot] = client;
      texts[slot] = address == null ? UNKNOWN : shown.text(address).getBytes(US_ASCII);
    }
    return texts[slot];
  }
}
