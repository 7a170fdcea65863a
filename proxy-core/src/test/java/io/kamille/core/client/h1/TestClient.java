package io.kamille.core.client.h1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A client that says exactly what it is told, and reads answers by the book (RFC 9112 §6.3). */
public final class TestClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;

  /** On a connection that stands; takes it over. */
  public static TestClient over(Socket socket) throws IOException {
    return new TestClient(socket);
  }

  private TestClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * An answer.
   *
   * @param status the code of the status line
   * @param lines field lines as they came
   * @param content octets without framing
   * @param trailers field lines behind chunked content
   */
  public record Answer(int status, List<String> lines, String content, List<String> trailers) {

    public @Nullable String field(String name) {
      String start = name.toLowerCase(Locale.ROOT) + ":";
      for (String line : lines) {
        if (line.toLowerCase(Locale.ROOT).startsWith(start)) {
          return line.substring(start.length()).strip();
        }
      }
      return null;
    }
  }

  public static TestClient connect(InetSocketAddress address) {
    return connect(address, 0);
  }

  public static TestClient connect(InetSocketAddress address, int receiveBufferBytes) {
    try {
      Socket socket = new Socket();
      if (receiveBufferBytes > 0) {
        socket.setReceiveBufferSize(receiveBufferBytes);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(address, TIMEOUT_MILLIS);
      return new TestClient(socket);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public TestClient send(String octets) {
    return send(octets.getBytes(StandardCharsets.ISO_8859_1));
  }

  public TestClient send(byte[] octets) {
    try {
      socket.getOutputStream().write(octets);
      return this;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Sends a request without content. */
  public TestClient request(String method, String target, String... lines) {
    StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: a\r\n");
    for (String line : lines) {
      head.append(line).append("\r\n");
    }
    return send(head + "\r\n");
  }

  public TestClient get(String target, String... lines) {
    return request("GET", target, lines);
  }

  /** The next answer, interim ones included. */
  public Answer answer() {
    return answer("GET");
  }

  /** The next answer to a request of this method. */
  public Answer answer(String method) {
    try {
      String statusLine = line();
      int status = Integer.parseInt(statusLine.substring(9, 12));
      Answer head = new Answer(status, lines(), "", List.of());
      if (method.equals("HEAD") || status < 200 || status == 204 || status == 304) {
        return head;
      }
      if ("chunked".equals(head.field("Transfer-Encoding"))) {
        return chunked(head);
      }
      String length = head.field("Content-Length");
      byte[] content = length == null ? in.readAllBytes() : exactly(Integer.parseInt(length));
      return new Answer(status, head.lines(), text(content), List.of());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private Answer chunked(Answer head) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    while (true) {
      int size = Integer.parseInt(line(), 16);
      if (size == 0) {
        return new Answer(head.status(), head.lines(), text(content.toByteArray()), lines());
      }
      content.writeBytes(exactly(size));
      if (!line().isEmpty()) {
        throw new IOException("a chunk longer than its size");
      }
    }
  }

  private List<String> lines() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      lines.add(line);
    }
    return lines;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      int octet = in.read();
      if (octet < 0) {
        throw new EOFException("closed within a line: " + line);
      }
      line.append((char) octet);
      if (octet == '\n') {
        if (line.length() < 2 || line.charAt(line.length() - 2) != '\r') {
          throw new IOException("a line that does not end in CRLF: " + line);
        }
        return line.substring(0, line.length() - 2);
      }
    }
  }

  private byte[] exactly(int length) throws IOException {
    byte[] octets = in.readNBytes(length);
    if (octets.length < length) {
      throw new EOFException("closed after " + octets.length + " of " + length);
    }
    return octets;
  }

  /** So many octets, as they are. */
  public byte[] octets(int length) {
    try {
      return exactly(length);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Everything up to these octets, and them. */
  public String readUntil(String end) {
    StringBuilder text = new StringBuilder();
    while (!text.toString().endsWith(end)) {
      text.append(read(1));
    }
    return text.toString();
  }

  /** So many octets. */
  public String read(int length) {
    try {
      return text(exactly(length));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Everything until the server closes its side. */
  public String rest() {
    try {
      return text(in.readAllBytes());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Whether the server has closed cleanly and said nothing more. */
  public boolean isAtEnd() {
    try {
      return in.read() < 0;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Says that nothing more will be sent. */
  public TestClient closeOutput() {
    try {
      socket.shutdownOutput();
      return this;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Goes away without a word. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String text(byte[] octets) {
    return new String(octets, StandardCharsets.ISO_8859_1);
  }
}
