package io.kamille.core.client.open;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What a load balancer says of a connection before its first octet: Willy Tarreau, "The PROXY
 * protocol, versions 1 & 2", 2020. Immutable.
 *
 * @param source of the client; null if the connection is the load balancer's own, or of a kind that
 *     has no address
 * @param destination that the client connected to; null with the source
 * @param length of the header in octets
 */
record ProxyHeader(
    @Nullable InetSocketAddress source, @Nullable InetSocketAddress destination, int length) {

  /*
   * Version 1, a line of up to 107 octets:
   *
   *   PROXY TCP4|TCP6 source destination port port CRLF     or     PROXY UNKNOWN anything CRLF
   *
   * Version 2:
   *
   *   12 signature | 1 version, command | 1 family, transport | 2 length | addresses | TLVs
   *   TLV: 1 type | 2 length | value
   *
   * The first octet tells them apart. Nothing is guessed: a header that does not say exactly what
   * it has to is refused. TLVs have to fill the rest. A checksum (CRC-32C) has to be right; every
   * other TLV is skipped.
   */
  private static final int MOST_LINE_OCTETS = 107;
  private static final byte[] WORD = "PROXY ".getBytes(StandardCharsets.US_ASCII);
  private static final int WORDS = 6;

  /** In the dotted part of an address: some read such a number as octal. */
  private static final Pattern LEADING_ZERO = Pattern.compile("\\.0[0-9]|(^|:)0[0-9]+\\.");

  private static final byte[] SIGNATURE =
      "\r\n\r\n\0\r\nQUIT\n".getBytes(StandardCharsets.US_ASCII);
  private static final int FIXED_OCTETS = 16;
  static final int MOST_OCTETS = 4_096;
  private static final int LOCAL = 0x20;
  private static final int PROXY = 0x21;
  private static final int UNSPECIFIED = 0x00;
  private static final int TCP_OVER_IPV4 = 0x11;
  private static final int TCP_OVER_IPV6 = 0x21;
  private static final int UNIX_STREAM = 0x31;
  private static final int UNIX_OCTETS = 216;
  private static final int TLV_HEAD = 3;
  private static final int TLV_CHECKSUM = 0x03;
  private static final int CHECKSUM_OCTETS = 4;

  /** Why octets are no header. */
  static final class Malformed extends Exception {

    private static final long serialVersionUID = 1;

    Malformed(String why) {
      super(why, null, false, false);
    }
  }

  /**
   * The header at the beginning of what has come; null if more is to come. Borrows the buffer, and
   * leaves its indices as they are.
   */
  static @Nullable ProxyHeader read(ByteBuf in) throws Malformed {
    if (!in.isReadable()) {
      return null;
    }
    return in.getByte(in.readerIndex()) == WORD[0] ? line(in) : binary(in);
  }

  private static void begins(ByteBuf in, byte[] with) throws Malformed {
    int length = Math.min(in.readableBytes(), with.length);
    for (int i = 0; i < length; i++) {
      if (in.getByte(in.readerIndex() + i) != with[i]) {
        throw new Malformed("no PROXY header");
      }
    }
  }

  // Version 1

  private static @Nullable ProxyHeader line(ByteBuf in) throws Malformed {
    begins(in, WORD);
    int there = Math.min(in.readableBytes(), MOST_LINE_OCTETS);
    int end = ByteBufUtil.indexOf(in, in.readerIndex(), in.readerIndex() + there, (byte) '\n');
    if (end < 0) {
      if (there == MOST_LINE_OCTETS) {
        throw new Malformed("a line that does not end");
      }
      return null;
    }
    int length = end + 1 - in.readerIndex();
    String line = in.toString(in.readerIndex(), length, StandardCharsets.ISO_8859_1);
    if (!line.endsWith("\r\n")) {
      throw new Malformed("a line without CRLF");
    }
    String[] words = line.substring(0, line.length() - 2).split(" ", -1);
    if (words[1].equals("UNKNOWN")) {
      return new ProxyHeader(null, null, length);
    }
    boolean isIpv4 = words[1].equals("TCP4");
    if (words.length != WORDS || (!isIpv4 && !words[1].equals("TCP6"))) {
      throw new Malformed("a line of other words");
    }
    return new ProxyHeader(
        new InetSocketAddress(address(words[2], isIpv4), port(words[4])),
        new InetSocketAddress(address(words[3], isIpv4), port(words[5])),
        length);
  }

  private static InetAddress address(String text, boolean isIpv4) throws Malformed {
    boolean isValid =
        isIpv4
            ? NetUtil.isValidIpV4Address(text)
            : NetUtil.isValidIpV6Address(text)
                && text.chars().allMatch(c -> c == ':' || c == '.' || Character.digit(c, 16) >= 0);
    isValid &= !LEADING_ZERO.matcher(text).find();
    byte[] octets = isValid ? NetUtil.createByteArrayFromIpAddressString(text) : null;
    if (octets == null) {
      throw new Malformed("a line with a wrong address");
    }
    return address(octets);
  }

  private static InetAddress address(byte[] octets) {
    try {
      return InetAddress.getByAddress(octets);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static int port(String text) throws Malformed {
    boolean isNumber = text.matches("[0-9]{1,5}") && (text.length() == 1 || text.charAt(0) != '0');
    int port = isNumber ? Integer.parseInt(text) : -1;
    if (port < 0 || port > 0xffff) {
      throw new Malformed("a line with a wrong port");
    }
    return port;
  }

  // Version 2

  private static @Nullable ProxyHeader binary(ByteBuf in) throws Malformed {
    begins(in, SIGNATURE);
    if (in.readableBytes() < FIXED_OCTETS) {
      return null;
    }
    int start = in.readerIndex();
    int command = in.getUnsignedByte(start + 12);
    int family = in.getUnsignedByte(start + 13);
    int length = FIXED_OCTETS + in.getUnsignedShort(start + 14);
    if (command != LOCAL && command != PROXY) {
      throw new Malformed("another version or command");
    }
    // Behind LOCAL the rest says nothing, the family neither (§2.2).
    int octets = command == LOCAL ? 0 : addressOctets(family);
    boolean hasPorts = command == PROXY && (family == TCP_OVER_IPV4 || family == TCP_OVER_IPV6);
    int tlvs = FIXED_OCTETS + 2 * octets + (hasPorts ? 4 : 0);
    if (length > MOST_OCTETS || length < tlvs) {
      throw new Malformed("a wrong length");
    }
    if (in.readableBytes() < length) {
      return null;
    }
    // What stands behind no address is not defined, so it is skipped.
    if (octets == 0) {
      return new ProxyHeader(null, null, length);
    }
    checkTlvs(in, start + tlvs, start + length);
    if (!hasPorts) {
      return new ProxyHeader(null, null, length);
    }
    int ports = start + FIXED_OCTETS + 2 * octets;
    return new ProxyHeader(
        endpoint(in, start + FIXED_OCTETS, octets, ports),
        endpoint(in, start + FIXED_OCTETS + octets, octets, ports + 2),
        length);
  }

  private static int addressOctets(int family) throws Malformed {
    return switch (family) {
      case UNSPECIFIED -> 0;
      case TCP_OVER_IPV4 -> 4;
      case TCP_OVER_IPV6 -> 16;
      case UNIX_STREAM -> UNIX_OCTETS / 2;
      default -> throw new Malformed("another family or transport");
    };
  }

  private static InetSocketAddress endpoint(ByteBuf in, int at, int octets, int port) {
    byte[] address = new byte[octets];
    in.getBytes(at, address);
    return new InetSocketAddress(address(address), in.getUnsignedShort(port));
  }

  private static void checkTlvs(ByteBuf in, int from, int end) throws Malformed {
    int at = from;
    while (at < end) {
      int value = at + TLV_HEAD;
      int next = value > end ? value : value + in.getUnsignedShort(at + 1);
      if (next > end) {
        throw new Malformed("a TLV that does not fit");
      }
      if (in.getUnsignedByte(at) == TLV_CHECKSUM) {
        if (next - value != CHECKSUM_OCTETS
            || in.getUnsignedInt(value) != checksum(in, value, end)) {
          throw new Malformed("a wrong checksum");
        }
      }
      at = next;
    }
  }

  /** Of the whole header, with zeros where the checksum stands. */
  private static long checksum(ByteBuf in, int sum, int end) {
    CRC32C crc = new CRC32C();
    byte[] octets = new byte[end - in.readerIndex()];
    in.getBytes(in.readerIndex(), octets);
    int at = sum - in.readerIndex();
    for (int i = 0; i < CHECKSUM_OCTETS; i++) {
      octets[at + i] = 0;
    }
    crc.update(octets);
    return crc.getValue();
  }
}
