package io.kamille.core.client.h1;

import io.kamille.core.client.ClientOutput;
import io.kamille.core.client.ReplyHeads;
import io.kamille.core.exchange.Reply;
import io.kamille.core.h1.ChunkedEncoder;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.FileRegion;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes one answer to the connection: its head, and its content in the framing that is due (RFC
 * 9112 §6). Used for one answer after the other. Confined to its loop.
 */
final class ReplyWriter {

  /*
   * Little content is copied behind its head: one buffer and one system call cost less than two
   * buffers gathered by one call. Much is not, and TLS copies it anyway.
   */
  private static final int LITTLE_BYTES = 4096;

  private static final byte[] CHUNKED =
      "Transfer-Encoding: chunked\r\n".getBytes(StandardCharsets.US_ASCII);

  /** What the answer says of the connection. */
  enum ConnectionLine {
    NONE(""),
    CLOSE("Connection: close\r\n"),
    KEEP_ALIVE("Connection: keep-alive\r\n"),
    UPGRADE("Connection: upgrade\r\n");

    @SuppressWarnings("ImmutableEnumChecker") // never written
    private final byte[] octets;

    ConnectionLine(String text) {
      octets = text.getBytes(StandardCharsets.US_ASCII);
    }
  }

  private enum Framing {
    LENGTH,
    CHUNKED,
    UNTIL_CLOSE,
    /** To HEAD, or with a status code that has none (RFC 9110 §6.4.1). */
    NONE,
    TUNNEL
  }

  private final ReplyHeads heads;
  private final HeadWriter out;
  private @Nullable ClientOutput output;
  private Framing framing = Framing.LENGTH;
  private long announcedBytes;

  /**
   * Writes such heads.
   *
   * @param out of the loop
   */
  ReplyWriter(ReplyHeads heads, HeadWriter out) {
    this.heads = heads;
    this.out = out;
  }

  /** Another answer, of which nothing is known yet. */
  void begin(ClientOutput output) {
    this.output = output;
    framing = Framing.LENGTH;
    announcedBytes = Reply.UNKNOWN_LENGTH;
  }

  /** Lets go of the connection. */
  void forget() {
    output = null;
  }

  /** Writes an interim response. */
  void interim(ResponseHead head) {
    heads.interim(out, head);
    out.newLine();
    writeHead();
  }

  /**
   * Finds the framing of a final response; {@link #head} follows.
   *
   * @param contentLength as {@link Reply#head} has it
   */
  void frame(RequestHead request, int status, long contentLength) {
    announcedBytes = contentLength;
    if (status == StatusCode.SWITCHING_PROTOCOLS) {
      framing = Framing.TUNNEL;
    } else if (request.method() == Method.HEAD || StatusCode.hasNoContent(status)) {
      framing = Framing.NONE;
    } else if (contentLength >= 0) {
      framing = Framing.LENGTH;
    } else {
      framing = request.minorVersion() == 1 ? Framing.CHUNKED : Framing.UNTIL_CLOSE;
    }
  }

  /**
   * Writes the head.
   *
   * @param whole begins with all content, or null; borrowed
   * @return whether the content went with it
   */
  boolean head(ResponseHead head, ConnectionLine line, @Nullable ByteBuf whole) {
    boolean joins = whole != null && framing == Framing.LENGTH && isLittle(announcedBytes);
    heads.answer(out, head, saysLength(head.status()) ? announcedBytes : ReplyHeads.UNSAID);
    if (framing == Framing.CHUNKED) {
      out.octets(CHUNKED);
    }
    out.octets(line.octets);
    out.newLine();
    if (whole != null && joins) {
      out.octets(whole, (int) announcedBytes);
    }
    writeHead();
    return joins;
  }

  private boolean isLittle(long bytes) {
    return bytes <= LITTLE_BYTES && !output().isEncrypted();
  }

  private boolean saysLength(int status) {
    return announcedBytes >= 0 && framing != Framing.TUNNEL && status != StatusCode.NO_CONTENT;
  }

  /**
   * Writes our part of a stored head and the stored part behind it.
   *
   * @param rest its other lines, the empty one, and content; takes ownership
   */
  void stored(int status, byte[] ownLines, int ownLength, ConnectionLine line, ByteBuf rest) {
    boolean joins = isLittle(rest.readableBytes());
    heads.stored(out, status, ownLines, ownLength);
    out.octets(line.octets);
    if (joins) {
      out.octets(rest, rest.readableBytes());
      rest.release();
      writeHead();
    } else {
      Channel channel = output().channel();
      channel.write(out.toBuffer(channel.alloc()), channel.voidPromise());
      output().write(rest);
    }
  }

  /** The answer to a request that is shed. */
  void shed(int retryAfterSeconds, ConnectionLine line) {
    heads.shed(out, retryAfterSeconds);
    out.octets(line.octets);
    out.newLine();
    writeHead();
  }

  private void writeHead() {
    output().write(out.toBuffer(output().channel().alloc()));
  }

  /** Takes ownership. */
  void write(ByteBuf chunk) {
    if (framing == Framing.CHUNKED) {
      int bytes = chunk.readableBytes();
      ChunkedEncoder.write(output().channel(), chunk);
      output().queued(bytes);
    } else {
      output().write(chunk);
    }
  }

  /** Takes ownership. */
  void write(FileRegion region) {
    output().write(region);
  }

  /** The content is complete. */
  void end(@Nullable Fields trailers) {
    if (framing == Framing.CHUNKED) {
      ChunkedEncoder.end(output().channel(), trailers);
      output().flushSoon();
    }
  }

  /** Whether content goes as it is, as long as announced. */
  boolean isPlain() {
    return framing != Framing.CHUNKED && framing != Framing.TUNNEL;
  }

  /** Whether only the end of the connection tells the client that the answer is over. */
  boolean endsWithConnection() {
    return framing == Framing.UNTIL_CLOSE || framing == Framing.TUNNEL;
  }

  private ClientOutput output() {
    if (output == null) {
      throw new IllegalStateException("output: no answer has begun");
    }
    return output;
  }
}
