package io.kamille.core.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Octets;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Takes the framing off the content of one message (RFC 9112 §6, §7). Confined to its loop; one per
 * message.
 *
 * <p>Content goes on as retained slices of the buffer it came in: nothing is copied. The decoder
 * never calls {@code abort}: it says what is wrong and leaves the consequences to its connection.
 */
public final class ContentDecoder {

  /** What came of decoding. */
  public enum Outcome {
    /** All given octets were taken; the content goes on. */
    NEED_MORE,
    /** The content is complete and {@code end} was called; octets behind it were left. */
    COMPLETE,
    /** The chunked coding is broken; {@link #failure} says why. */
    MALFORMED
  }

  private enum State {
    CONTENT,
    SIZE,
    BLANK,
    EXTENSION,
    QUOTED,
    ESCAPED,
    SIZE_LF,
    CHUNK,
    CHUNK_CR,
    CHUNK_LF,
    TRAILERS,
    DONE
  }

  /** 15 hexadecimal digits stay below 2^60: no overflow, and more than anyone has. */
  private static final int MAX_SIZE_DIGITS = 15;

  /**
   * Octets of extensions in one message. They are ignored, but reading them is work (RFC 9112
   * §7.1.1).
   */
  private static final int MAX_EXTENSIONS = 16 * 1024;

  private final boolean untilClose;
  private State state;
  private long left;
  private int digits;
  private int extensions;
  private @Nullable TrailerParser trailers;
  private @Nullable Failure failure;

  private ContentDecoder(State state, long left, boolean untilClose) {
    this.state = state;
    this.left = left;
    this.untilClose = untilClose;
  }

  /** A decoder for what {@link MessageFraming} found. */
  public static ContentDecoder of(long framing) {
    if (framing == MessageFraming.CHUNKED) {
      return new ContentDecoder(State.SIZE, 0, false);
    }
    boolean untilClose = framing == MessageFraming.UNTIL_CLOSE;
    return new ContentDecoder(State.CONTENT, untilClose ? Long.MAX_VALUE : framing, untilClose);
  }

  /** Whether the close of the connection, and nothing else, ends the content. */
  public boolean endsWithConnection() {
    return untilClose;
  }

  public boolean isComplete() {
    return state == State.DONE;
  }

  /** Why the content is malformed. */
  public Failure failure() {
    if (failure == null) {
      throw new IllegalStateException("failure: asked for before MALFORMED");
    }
    return failure;
  }

  /** Decodes what is there into {@code sink}. Borrows the buffer, moves its reader index. */
  public Outcome decode(ByteBuf in, ContentSink sink) {
    if (state == State.CONTENT) {
      return length(in, sink);
    }
    while (state != State.DONE) {
      if (!in.isReadable()) {
        return Outcome.NEED_MORE;
      }
      if (state == State.TRAILERS) {
        return trailers(in, sink);
      }
      if (state == State.CHUNK) {
        pass(in, sink);
        if (left == 0) {
          state = State.CHUNK_CR;
        }
      } else if (!framing(in.readByte())) {
        return Outcome.MALFORMED;
      }
    }
    return Outcome.COMPLETE;
  }

  private Outcome length(ByteBuf in, ContentSink sink) {
    if (left > 0 && in.isReadable()) {
      pass(in, sink);
    }
    if (left > 0) {
      return Outcome.NEED_MORE;
    }
    state = State.DONE;
    sink.end(null);
    return Outcome.COMPLETE;
  }

  private void pass(ByteBuf in, ContentSink sink) {
    int length = (int) Math.min(left, in.readableBytes());
    left -= length;
    sink.write(in.readRetainedSlice(length));
  }

  private Outcome trailers(ByteBuf in, ContentSink sink) {
    if (trailers == null) {
      trailers = new TrailerParser();
    }
    switch (trailers.parse(in)) {
      case NEED_MORE -> {
        return Outcome.NEED_MORE;
      }
      case MALFORMED -> {
        failure = trailers.failure();
        return Outcome.MALFORMED;
      }
      case COMPLETE -> {
        state = State.DONE;
        sink.end(trailers.trailers());
        return Outcome.COMPLETE;
      }
    }
    throw new AssertionError();
  }

  /** One octet of a chunk's line or end; false if it does not belong there. */
  private boolean framing(byte octet) {
    switch (state) {
      case SIZE -> {
        int digit = octet < 0 ? -1 : Character.digit(octet, 16);
        if (digit >= 0) {
          left = left << 4 | digit;
          return ++digits <= MAX_SIZE_DIGITS || broken("a chunk size over its limit");
        }
        if (digits == 0) {
          return broken("no chunk size");
        }
        return sizeEnds(octet);
      }
      case BLANK -> {
        // White space may only stand before an extension (RFC 9112 §7.1.1).
        if (octet == ';') {
          state = State.EXTENSION;
          return true;
        }
        return Octets.isBlank(octet) ? extension() : broken("white space behind a chunk size");
      }
      case EXTENSION -> {
        if (octet == '\r') {
          state = State.SIZE_LF;
          return true;
        }
        if (octet == '"') {
          state = State.QUOTED;
        }
        return octet == '\\' ? broken("a backslash outside quotes") : extension(octet);
      }
      // No CR ends a line here: other servers read on to the closing quote (CVE-2026-33870).
      case QUOTED -> {
        state = octet == '"' ? State.EXTENSION : octet == '\\' ? State.ESCAPED : State.QUOTED;
        return extension(octet);
      }
      case ESCAPED -> {
        state = State.QUOTED;
        return extension(octet);
      }
      case SIZE_LF -> {
        state = left == 0 ? State.TRAILERS : State.CHUNK;
        digits = 0;
        return octet == '\n' || broken("a chunk line that does not end in CRLF");
      }
      case CHUNK_CR -> {
        state = State.CHUNK_LF;
        return octet == '\r' || broken("a chunk longer than its size");
      }
      case CHUNK_LF -> {
        state = State.SIZE;
        left = 0;
        return octet == '\n' || broken("a chunk that does not end in CRLF");
      }
      default -> throw new IllegalStateException("no framing octet expected in " + state);
    }
  }

  private boolean sizeEnds(byte octet) {
    if (octet == '\r') {
      state = State.SIZE_LF;
      return true;
    }
    if (Octets.isBlank(octet)) {
      state = State.BLANK;
      return extension();
    }
    state = State.EXTENSION;
    return octet == ';' || broken("a chunk size that is not hexadecimal");
  }

  private boolean extension(byte octet) {
    boolean text = octet < 0 || (octet >= ' ' && octet != 0x7f) || octet == '\t';
    return text ? extension() : broken("a control octet in a chunk extension");
  }

  private boolean extension() {
    return ++extensions <= MAX_EXTENSIONS || broken("chunk extensions over their limit");
  }

  private boolean broken(String reason) {
    failure = Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, reason);
    return false;
  }
}
