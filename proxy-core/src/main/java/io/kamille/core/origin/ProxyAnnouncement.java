package io.kamille.core.origin;

import io.kamille.core.exchange.Exchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What an origin is told of the client before the first octet of a connection: Willy Tarreau, "The
 * PROXY protocol, versions 1 & 2", 2020. Stateless.
 */
public enum ProxyAnnouncement {
  /** Nothing. */
  OFF,
  /** A line. */
  V1,
  /** Octets. */
  V2;

  /*
   * A connection that begins like this belongs to one client for good. So it carries one request.
   *
   * Version 2:  12 signature | 1 version, command | 1 family, transport | 2 length | addresses
   *
   * Where the addresses are of two families, or not known, the origin is told that nothing is
   * known. Of a connection of our own, such as a check, it is told that it has no client (UNKNOWN,
   * LOCAL): an address of ours could be one that it trusts.
   */
  /** Whose connection it is that has no client. */
  public static final InetSocketAddress NOBODY = InetSocketAddress.createUnresolved("nobody", 0);

  private static final byte[] SIGNATURE =
      "\r\n\r\n\0\r\nQUIT\n".getBytes(StandardCharsets.US_ASCII);
  private static final int LOCAL = 0x20;
  private static final int PROXY = 0x21;
  private static final int UNSPECIFIED = 0x00;
  private static final int TCP_OVER_IPV4 = 0x11;
  private static final int TCP_OVER_IPV6 = 0x21;
  private static final int IPV4_OCTETS = 4;
  private static final int MOST_OCTETS = 128;

  /** The header for a connection without a client, as {@link #of}. */
  public ByteBuf ofNobody(ByteBufAllocator allocator) {
    ByteBuf out = allocator.directBuffer(MOST_OCTETS);
    if (this == V1) {
      line(out, null, NOBODY);
    } else {
      out.writeBytes(SIGNATURE).writeByte(LOCAL).writeByte(UNSPECIFIED).writeShort(0);
    }
    return out;
  }

  /** The header for this exchange, in a buffer that the caller owns; not with {@link #OFF}. */
  public ByteBuf of(Exchange exchange, ByteBufAllocator allocator) {
    InetSocketAddress client = exchange.client();
    if (client.equals(NOBODY)) {
      return ofNobody(allocator);
    }
    InetSocketAddress local = exchange.local();
    byte[] from = octets(client);
    byte[] to = octets(local);
    boolean isKnown = from != null && to != null && from.length == to.length;
    ByteBuf out = allocator.directBuffer(MOST_OCTETS);
    if (this == V1) {
      line(out, isKnown ? client : null, local);
    } else {
      out.writeBytes(SIGNATURE).writeByte(PROXY);
      if (isKnown && from != null && to != null) {
        out.writeByte(from.length == IPV4_OCTETS ? TCP_OVER_IPV4 : TCP_OVER_IPV6);
        out.writeShort(2 * from.length + 2 * Short.BYTES);
        out.writeBytes(from).writeBytes(to);
        out.writeShort(client.getPort()).writeShort(local.getPort());
      } else {
        out.writeByte(UNSPECIFIED).writeShort(0);
      }
    }
    return out;
  }

  private static void line(ByteBuf out, @Nullable InetSocketAddress client, InetSocketAddress to) {
    String line =
        client == null
            ? "PROXY UNKNOWN\r\n"
            : "PROXY "
                + (client.getAddress().getAddress().length == IPV4_OCTETS ? "TCP4 " : "TCP6 ")
                + NetUtil.toAddressString(client.getAddress())
                + ' '
                + NetUtil.toAddressString(to.getAddress())
                + ' '
                + client.getPort()
                + ' '
                + to.getPort()
                + "\r\n";
    out.writeCharSequence(line, StandardCharsets.US_ASCII);
  }

  private static byte @Nullable [] octets(InetSocketAddress address) {
    @Nullable InetAddress known = address.getAddress();
    return known == null ? null : known.getAddress();
  }
}
