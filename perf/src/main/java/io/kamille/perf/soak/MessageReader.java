package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages from a blocking connection, strictly by their framing: what breaks it is a {@link
 * ProtocolException}, what breaks off an {@link EOFException}. Confined.
 */
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
  private int position;
  private int limit;

  MessageReader(InputStream in) {
    this(in, BUFFER_BYTES);
  }

  /**
   * With that buffer.
   *
   * @param bufferBytes that are read at most at once
   */
  MessageReader(InputStream in, int bufferBytes) {
    this.in = in;
    this.buffer = new byte[bufferBytes];
  }

  /** The next head; null if the connection has ended before it. */
  @Nullable Head head() throws IOException {
    var text = new StringBuilder();
    if (position == limit && !fill()) {
      return null;
    }
    for (String line = line(); !line.isEmpty(); line = line()) {
      text.append(line).append("\r\n");
      if (text.length() > LINE_LIMIT) {
        throw new ProtocolException("endless head");
      }
    }
    return Head.parse(text.toString());
  }

  /**
   * Reads the content of a message that has some.
   *
   * @param untilClose whether it ends with the connection if nothing else tells
   * @throws EOFException if it is incomplete
   */
  void content(Head head, boolean untilClose, Sink sink) throws IOException {
    if (head.isChunked()) {
      chunks(sink);
    } else if (head.contentLength() >= 0) {
      take(head.contentLength(), sink);
    } else if (untilClose) {
      while (position < limit || fill()) {
        sink.take(buffer, position, limit - position);
        position = limit;
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
    int end = line.indexOf(';');
    try {
      return Integer.parseUnsignedInt(end < 0 ? line : line.substring(0, end), HEX);
    } catch (NumberFormatException e) {
      var wrong = new ProtocolException("chunk size: " + line);
      wrong.initCause(e);
      throw wrong;
    }
  }

  private void take(int count, Sink sink) throws IOException {
    int left = count;
    while (left > 0) {
      need();
      int now = Math.min(left, limit - position);
      sink.take(buffer, position, now);
      position += now;
      left -= now;
    }
  }

  private String line() throws IOException {
    var line = new ByteArrayOutputStream();
    while (true) {
      need();
      byte octet = buffer[position++];
      if (octet == '\n') {
        break;
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

  private void need() throws IOException {
    if (position == limit && !fill()) {
      throw new EOFException("the connection ended within a message");
    }
  }

  private boolean fill() throws IOException {
    position = 0;
    limit = 0;
    int count = in.read(buffer);
    if (count < 0) {
      return false;
    }
    limit = count;
    return true;
  }
}
