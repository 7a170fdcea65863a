package io.kamille.core.gate;

import io.kamille.core.setting.HostPort;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that begin with the same bits, as settings write them: {@code 10.0.0.0/8} (RFC 4632
 * §3.1), {@code 2001:db8::/32} (RFC 4291 §2.3), or one address such as {@code ::1}. An IPv4 address
 * inside IPv6 (RFC 4291 §2.5.5.2) is that IPv4 address. Immutable; any thread.
 *
 * @param first of them
 * @param prefixLength how many bits all of them begin with, of 128: an IPv4 address is looked at
 *     inside IPv6
 */
public record AddressRange(AddressBits first, int prefixLength) {

  private static final Pattern LENGTH = Pattern.compile("0|[1-9][0-9]{0,2}");
  private static final Pattern IPV4 = Pattern.compile("[0-9.]+");
  private static final int ALL_BITS = 128;

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
    AddressBits first = AddressBits.of(InetAddress.ofLiteral(literal));
    int least = first.isIpv4() ? AddressBits.MAPPED_BITS : 0;
    int skipped = address.indexOf(':') >= 0 ? 0 : least;
    int length = slash < 0 ? ALL_BITS : skipped + length(text.substring(slash + 1));
    boolean isRange = length >= least && length <= ALL_BITS && first.prefix(length).equals(first);
    return isRange ? new AddressRange(first, length) : null;
  }

  private static @Nullable String literal(String address) {
    if (address.indexOf(':') >= 0) {
      return HostPort.hostOf("[" + address + "]");
    }
    return IPV4.matcher(address).matches() ? HostPort.hostOf(address) : null;
  }

  private static int length(String digits) {
    return LENGTH.matcher(digits).matches() ? Integer.parseInt(digits) : -ALL_BITS;
  }

  boolean isIpv4() {
    return first.isIpv4() && prefixLength >= AddressBits.MAPPED_BITS;
  }

  /** Whether it is all addresses of its version of IP. */
  boolean isWholeFamily() {
    return prefixLength == (isIpv4() ? AddressBits.MAPPED_BITS : 0);
  }

  /** The form {@link #parse} reads back; without a prefix length where it is one address. */
  @Override
  public String toString() {
    String address =
        isIpv4()
            ? NetUtil.intToIpAddress((int) first.low())
            : NetUtil.bytesToIpAddress(
                ByteBuffer.allocate(16).putLong(first.high()).putLong(first.low()).array());
    int written = isIpv4() ? prefixLength - AddressBits.MAPPED_BITS : prefixLength;
    return prefixLength == ALL_BITS ? address : address + "/" + written;
  }
}
