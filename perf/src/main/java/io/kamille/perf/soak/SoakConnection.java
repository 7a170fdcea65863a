package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.RequestParser;
import io.kamille.core.h1.ResponseParser;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A blocking connection, of a client or of an origin. It reads messages strictly, by the parsers of
 * the product. Confined to its thread.
 */
final class SoakConnection implements AutoCloseable {

  /** Nobody may wait for longer than this; it is no measure of speed. */
  private static final int PATIENCE_MILLIS = 120_000;

  private static final int READ_BYTES = 16 * 1024;
  private static final int SLOW_READ_BYTES = 4 * 1024;

  private final Socket socket;
  private final ByteBuf in;
  private final ByteBuf piece = Unpooled.buffer(READ_BYTES);
  private @Nullable ContentDecoder content;
  private int uses;

  private SoakConnection(Socket socket, int readBytes) {
    this.socket = socket;
    this.in = Unpooled.buffer(readBytes, readBytes);
  }

  /** A connection that was accepted. */
  static SoakConnection of(Socket socket) {
    return new SoakConnection(socket, READ_BYTES);
  }

  /**
   * Connects to a loopback port.
   *
   * @param isSlow with little room in the kernel for what it is sent, and read in small pieces
   */
  static SoakConnection open(int port, boolean isSlow) throws IOException {
    var socket = new Socket();
    try {
      if (isSlow) {
        socket.setReceiveBufferSize(SLOW_READ_BYTES);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
      return new SoakConnection(socket, isSlow ? SLOW_READ_BYTES : READ_BYTES);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  Socket socket() {
    return socket;
  }

  void send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
  }

  /** Whether a request was sent here before; counts this one. */
  boolean isUsed() {
    return uses++ > 0;
  }

  /** The head of the next request; null if the connection has ended before it. */
  @Nullable RequestHead request() throws IOException {
    var parser = new RequestParser(HeadLimits.REQUEST);
    if (!reads(parser::parse)) {
      return null;
    }
    content = ContentDecoder.of(MessageFraming.of(parser.head()));
    return parser.head();
  }

  /** The head of the response to a request by that method; null if there is none. */
  @Nullable ResponseHead response(Method method) throws IOException {
    var parser = new ResponseParser(HeadLimits.RESPONSE);
    parser.reset(method);
    if (!reads(parser::parse)) {
      return null;
    }
    content = ContentDecoder.of(MessageFraming.of(parser.head(), method));
    return parser.head();
  }

  private boolean reads(Function<ByteBuf, RequestParser.Outcome> head) throws IOException {
    boolean isBegun = in.isReadable();
    while (true) {
      switch (head.apply(in)) {
        case COMPLETE -> {
          return true;
        }
        case MALFORMED -> throw new ProtocolException("no head of a message");
        case NEED_MORE -> {
          if (!fill()) {
            if (isBegun) {
              throw brokenOff();
            }
            return false;
          }
          isBegun = true;
        }
      }
    }
  }

  /**
   * More of the content, without its framing; null behind its end. Borrowed until the next call.
   *
   * @throws EOFException if the connection ended before the content did
   */
  @Nullable ByteBuf piece() throws IOException {
    piece.clear();
    while (content != null && !piece.isReadable()) {
      switch (content.decode(in, sink)) {
        case COMPLETE -> content = null;
        case MALFORMED -> throw new ProtocolException(content.failure().reason());
        case NEED_MORE -> {
          if (!piece.isReadable() && !fill()) {
            if (!content.endsWithConnection()) {
              throw brokenOff();
            }
            content = null;
          }
        }
      }
    }
    return piece.isReadable() ? piece : null;
  }

  private final ContentSink sink =
      new ContentSink() {
        @Override
        public void write(ByteBuf chunk) {
          piece.writeBytes(chunk);
          chunk.release();
        }

        @Override
        public void end(@Nullable Fields trailers) {}

        @Override
        public void abort(Failure why) {}
      };

  /** Reads once; false at the end. To be called when all that was read has been taken. */
  private boolean fill() throws IOException {
    return in.clear().writeBytes(socket.getInputStream(), in.capacity()) >= 0;
  }

  private static EOFException brokenOff() {
    return new EOFException("the connection ended within a message");
  }

  /** The values of all lines of that name, with commas between; empty if there are none. */
  static String field(Fields fields, String name) {
    return String.join(", ", fields.all(name));
  }

  /** Lets it close with a reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException("closing a socket", e);
    }
  }
}
