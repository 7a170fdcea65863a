package io.kamille.core.client.h1;

import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.Shedder;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Writes the heads of answers (RFC 9112 §4 and §5). One per loop. Confined to it. */
final class ReplyHeads {

  /** What the answer says of the connection. */
  enum ConnectionLine {
    NONE(""),
    CLOSE("Connection: close\r\n"),
    KEEP_ALIVE("Connection: keep-alive\r\n"),
    UPGRADE("Connection: upgrade\r\n");

    @SuppressWarnings("ImmutableEnumChecker") // never written
    private final byte[] octets;

    ConnectionLine(String text) {
      octets = octets(text);
    }
  }

  /** What the answer says of its length. */
  enum Length {
    SAID,
    CHUNKED,
    UNSAID
  }

  private static final byte[] CHUNKED = octets("Transfer-Encoding: chunked\r\n");

  private final HeadWriter out = new HeadWriter();
  private final LongSupplier epochSeconds;
  private final HttpsPolicy policy;
  private final byte[][] shedLines = new byte[Shedder.MOST_RETRY_AFTER_SECONDS][];

  /**
   * Heads of {@code proxy}.
   *
   * @param proxy how this proxy calls itself in {@code Proxy-Status}
   * @param epochSeconds wall clock for the {@code Date} of answers that lack one
   * @param policy of the listener: its HSTS stands before one of the origin, which then counts for
   *     nothing (RFC 6797 §8.1)
   */
  ReplyHeads(String proxy, LongSupplier epochSeconds, HttpsPolicy policy) {
    this.epochSeconds = epochSeconds;
    this.policy = policy;
    for (int i = 0; i < shedLines.length; i++) {
      shedLines[i] = shedLines(proxy, i + 1);
    }
  }

  private static byte[] shedLines(String proxy, int retryAfterSeconds) {
    return octets(
        "Content-Length: 0\r\nCache-Control: no-store\r\nRetry-After: "
            + retryAfterSeconds
            + "\r\nProxy-Status: "
            + Overload.SHED.proxyStatus(proxy)
            + "\r\n");
  }

  private static byte[] octets(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** An interim response. Borrows its head. */
  ByteBuf interim(ResponseHead head, ByteBufAllocator allocator) {
    out.statusLine(head.status());
    lines(head.fields());
    return ended(allocator);
  }

  /**
   * A final response. Borrows its head.
   *
   * @param joined begins with all content, which goes with the head; borrowed. Null if none does
   */
  ByteBuf answer(
      ResponseHead head,
      Length length,
      long contentBytes,
      ConnectionLine line,
      @Nullable ByteBuf joined,
      ByteBufAllocator allocator) {
    out.statusLine(head.status());
    out.octets(policy.hsts());
    lines(head.fields());
    if (!head.has(FieldName.DATE) && head.status() != StatusCode.SWITCHING_PROTOCOLS) {
      out.line(FieldName.DATE, HttpDate.format(epochSeconds.getAsLong()));
    }
    switch (length) {
      case SAID -> out.line(FieldName.CONTENT_LENGTH, contentBytes);
      case CHUNKED -> out.octets(CHUNKED);
      case UNSAID -> {}
    }
    out.octets(line.octets);
    out.newLine();
    if (joined != null) {
      out.octets(joined, (int) contentBytes);
    }
    return out.toBuffer(allocator);
  }

  private void lines(Fields fields) {
    for (int i = 0; i < fields.size(); i++) {
      FieldName name = fields.knownAt(i);
      if (name != FieldName.CONTENT_LENGTH
          && name != FieldName.TRANSFER_ENCODING
          && !(name == FieldName.STRICT_TRANSPORT_SECURITY && policy.hasHsts())) {
        out.line(fields, i);
      }
    }
  }

  private ByteBuf ended(ByteBufAllocator allocator) {
    out.newLine();
    return out.toBuffer(allocator);
  }

  /**
   * Our part of the head of a stored response; its other lines and the empty one follow.
   *
   * @param joined these lines and all content, which go with it; borrowed. Null if they do not
   */
  ByteBuf stored(
      int status,
      byte[] ownLines,
      int ownLength,
      ConnectionLine line,
      @Nullable ByteBuf joined,
      ByteBufAllocator allocator) {
    out.statusLine(status);
    out.octets(policy.hsts());
    out.octets(ownLines, 0, ownLength);
    out.octets(line.octets);
    if (joined != null) {
      out.octets(joined, joined.readableBytes());
    }
    return out.toBuffer(allocator);
  }

  /** The answer to a request that is shed: octets made beforehand, for this must cost little. */
  ByteBuf shed(int retryAfterSeconds, ConnectionLine line, ByteBufAllocator allocator) {
    out.statusLine(Overload.SHED.status());
    out.octets(policy.hsts());
    out.octets(shedLines[retryAfterSeconds - 1]);
    out.octets(line.octets);
    return ended(allocator);
  }
}
