package io.kamille.admin;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A connection that sends exactly the octets it is given. */
final class Wire implements Closeable {

  private static final int READ_LIMIT_MILLIS = 60_000;

  private final Socket socket = new Socket();

  Wire(InetSocketAddress address) throws IOException {
    socket.setSoTimeout(READ_LIMIT_MILLIS);
    socket.connect(address);
  }

  Wire send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  /** One response with its content. */
  String response() throws IOException {
    String head = head();
    if (head.startsWith("HTTP/1.1 204 ")) {
      return head;
    }
    int at = head.indexOf("content-length: ") + "content-length: ".length();
    int length = Integer.parseInt(head, at, head.indexOf('\r', at), 10);
    return head + new String(socket.getInputStream().readNBytes(length), StandardCharsets.UTF_8);
  }

  /** The head of one response. */
  String head() throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int octet = in.read();
      if (octet < 0) {
        throw new IOException("closed after: " + head);
      }
      head.append((char) octet);
    }
    return head.toString();
  }

  /** Everything until the other side closes. */
  String rest() throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
