package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;

/** Reads messages of HTTP/1.1, requests and responses, strictly. Confined to its thread. */
final class MessageReader {

  /** Takes content as it comes. */
  interface Sink {
    void take(byte[] octets, int from, int count) throws IOException;
  }

  private static final int BUFFER_BYTES = 16 * 1024;
  private static final int LINE_LIMIT = 64 * 1024;
  private static final int HEX = 16;

  private final InputStream in;
  private final byte[] buffer;

  MessageReader(InputStream in) {
    this(in, BUFFER_BYTES);
  }

  /** Reads at most so many octets at a time. */
  MessageReader(InputStream in, int bufferBytes) {
    this.in = new BufferedInputStream(in, bufferBytes);
    this.buffer = new byte[bufferBytes];
  }

  /** The next head; null if the connection has ended before it. */
  @Nullable Head head() throws IOException {
    in.mark(1);
    if (in.read() < 0) {
      return null;
    }
    in.reset();
    var text = new StringBuilder();
    for (String line = line(); !line.isEmpty(); line = line()) {
      text.append(line).append("\r\n");
      if (text.length() > LINE_LIMIT) {
        throw new ProtocolException("endless head");
      }
    }
    return Head.parse(text.toString());
  }

  /**
   * Reads the content behind a head to its end.
   *
   * @param untilClose whether content without framing ends with the connection; else there is none
   */
  void content(Head head, boolean untilClose, Sink sink) throws IOException {
    if (head.isChunked()) {
      chunks(sink);
    } else if (head.contentLength() >= 0) {
      take(head.contentLength(), sink);
    } else if (untilClose) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        sink.take(buffer, 0, count);
      }
    }
  }

  private void chunks(Sink sink) throws IOException {
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      take(size, sink);
      if (!line().isEmpty()) {
        throw new ProtocolException("octets behind a chunk");
      }
    }
    while (!line().isEmpty()) {
      // Trailer fields mean nothing here.
    }
  }

  private int chunkSize() throws IOException {
    String line = line();
    try {
      return Integer.parseUnsignedInt(line.replaceFirst(";.*", ""), HEX);
    } catch (NumberFormatException e) {
      throw (IOException) new ProtocolException("chunk size: " + line).initCause(e);
    }
  }

  private void take(int count, Sink sink) throws IOException {
    for (int left = count; left > 0; ) {
      int now = in.read(buffer, 0, Math.min(left, buffer.length));
      if (now < 0) {
        throw new EOFException("the connection ended within a message");
      }
      sink.take(buffer, 0, now);
      left -= now;
    }
  }

  private String line() throws IOException {
    var line = new ByteArrayOutputStream();
    for (int octet = in.read(); octet != '\n'; octet = in.read()) {
      if (octet < 0) {
        throw new EOFException("the connection ended within a message");
      }
      line.write(octet);
      if (line.size() > LINE_LIMIT) {
        throw new ProtocolException("endless line");
      }
    }
    String text = line.toString(ISO_8859_1);
    if (!text.endsWith("\r")) {
      throw new ProtocolException("a line without CR: " + text);
    }
    return text.substring(0, text.length() - 1);
  }
}
