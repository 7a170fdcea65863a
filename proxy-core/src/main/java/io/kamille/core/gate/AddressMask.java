package io.kamille.core.gate;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** How the address of a client is written down. */
public enum AddressMask {
  /** As it is. */
  FULL,
  /** Its network alone: /24 of an IPv4 address, /48 of an IPv6 address. */
  MASKED;

  /** Clears what is not shown of an address, which is four or sixteen octets before {@code end}. */
  public void hide(byte[] octets, int end, int length) {
    if (this == MASKED && length > 0) {
      Arrays.fill(octets, end - length + (length == 4 ? 3 : 6), end, (byte) 0);
    }
  }

  /** What is shown of it, as text. */
  public String text(@Nullable InetAddress address) {
    if (address == null) {
      return "unknown";
    }
    byte[] octets = address.getAddress();
    hide(octets, octets.length, octets.length);
    try {
      return NetUtil.toAddressString(InetAddress.getByAddress(octets));
    } catch (UnknownHostException impossible) {
      throw new IllegalArgumentException(impossible);
    }
  }
}
