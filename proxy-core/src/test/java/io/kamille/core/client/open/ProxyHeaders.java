package io.kamille.core.client.open;

import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** PROXY headers as a load balancer writes them. */
public final class ProxyHeaders {

  private static final byte[] SIGNATURE =
      "\r\n\r\n\0\r\nQUIT\n".getBytes(StandardCharsets.US_ASCII);

  private ProxyHeaders() {}

  public static byte[] line(String text) {
    return (text + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Version 2, for a client and an address that it connected to, both of one family. */
  public static byte[] binary(InetSocketAddress client, InetSocketAddress local, byte... tlvs) {
    byte[] from = client.getAddress().getAddress();
    byte[] to = local.getAddress().getAddress();
    ByteBuffer content = ByteBuffer.allocate(2 * from.length + 4 + tlvs.length);
    content.put(from).put(to).putShort((short) client.getPort()).putShort((short) local.getPort());
    return binary(0x21, from.length == 4 ? 0x11 : 0x21, content.put(tlvs).array());
  }

  public static byte[] binary(int command, int family, byte... content) {
    ByteBuffer header = ByteBuffer.allocate(16 + content.length).put(SIGNATURE);
    header.put((byte) command).put((byte) family).putShort((short) content.length).put(content);
    return header.array();
  }

  public static byte[] tlv(int type, byte... value) {
    ByteBuffer tlv = ByteBuffer.allocate(3 + value.length);
    return tlv.put((byte) type).putShort((short) value.length).put(value).array();
  }

  /** The header with its last four octets, which are zero, made its checksum. */
  public static byte[] sealed(byte[] header) {
    CRC32C crc = new CRC32C();
    crc.update(header);
    return ByteBuffer.wrap(header).putInt(header.length - 4, (int) crc.getValue()).array();
  }

  public static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
