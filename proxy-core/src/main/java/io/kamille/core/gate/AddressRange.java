package io.kamille.core.gate;

import io.kamille.core.setting.HostPort;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that begin with the same bits, as settings write them: {@code 10.0.0.0/8} (RFC 4632
 * §3.1), {@code 2001:db8::/32} (RFC 4291 §2.3), or one address such as {@code ::1}. An IPv4 address
 * inside IPv6 (RFC 4291 §2.5.5.2) is that IPv4 address. Immutable; any thread.
 */
public final class AddressRange {

  private static final Pattern LENGTH = Pattern.compile("0|[1-9][0-9]{0,2}");
  private static final Pattern IPV4 = Pattern.compile("[0-9.]+");

  /** Eighty bits of zero and sixteen of one come before the IPv4 address. */
  private static final int MAPPED_BITS = AddressBits.MAPPED_BITS;

  private final byte[] first;
  private final int prefixBits;

  private AddressRange(byte[] first, int prefixBits) {
    this.first = first;
    this.prefixBits = prefixBits;
  }

  /**
   * The range that {@code text} stands for; null if it is none, or if a bit behind the prefix is
   * set.
   */
  public static @Nullable AddressRange parse(String text) {
    int slash = text.indexOf('/');
    String address = slash < 0 ? text : text.substring(0, slash);
    String literal = literal(address);
    if (literal == null) {
      return null;
    }
    byte[] first = InetAddress.ofLiteral(literal).getAddress();
    int skipped = address.indexOf(':') >= 0 && first.length == 4 ? MAPPED_BITS : 0;
    int all = first.length * 8;
    int prefixBits = slash < 0 ? all : length(text.substring(slash + 1)) - skipped;
    boolean isRange = prefixBits >= 0 && prefixBits <= all && isZeroFrom(first, prefixBits);
    return isRange ? new AddressRange(first, prefixBits) : null;
  }

  private static @Nullable String literal(String address) {
    if (address.indexOf(':') >= 0) {
      return HostPort.hostOf("[" + address + "]");
    }
    return IPV4.matcher(address).matches() ? HostPort.hostOf(address) : null;
  }

  private static int length(String digits) {
    return LENGTH.matcher(digits).matches() ? Integer.parseInt(digits) : -1;
  }

  private static boolean isZeroFrom(byte[] octets, int bits) {
    for (int bit = bits; bit < octets.length * 8; bit++) {
      if (bit(octets, bit)) {
        return false;
      }
    }
    return true;
  }

  private static boolean bit(byte[] octets, int at) {
    return (octets[at >> 3] >> (7 - (at & 7)) & 1) == 1;
  }

  boolean isIpv4() {
    return first.length == 4;
  }

  AddressBits firstAddress() {
    return AddressBits.of(first);
  }

  /** How many bits all of them begin with, of 128: an IPv4 address is looked at inside IPv6. */
  int prefixLength() {
    return isIpv4() ? MAPPED_BITS + prefixBits : prefixBits;
  }

  /** Whether the address is one of them. */
  public boolean contains(InetAddress address) {
    byte[] octets = address.getAddress();
    int skipped = isMapped(octets) ? MAPPED_BITS : 0;
    if (octets.length * 8 - skipped != first.length * 8) {
      return false;
    }
    for (int i = 0; i < prefixBits; i++) {
      if (bit(first, i) != bit(octets, skipped + i)) {
        return false;
      }
    }
    return true;
  }

  /** Such addresses come from sockets that take both families. */
  private static boolean isMapped(byte[] octets) {
    for (int i = 0; i < MAPPED_BITS / 8 && octets.length == 16; i++) {
      if (octets[i] != (i < 10 ? 0 : (byte) 0xff)) {
        return false;
      }
    }
    return octets.length == 16;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AddressRange that
        && prefixBits == that.prefixBits
        && Arrays.equals(first, that.first);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(first) + prefixBits;
  }

  /** The form {@link #parse} reads back; without a prefix length where it is one address. */
  @Override
  public String toString() {
    String address = NetUtil.bytesToIpAddress(first);
    return prefixBits == first.length * 8 ? address : address + "/" + prefixBits;
  }
}
