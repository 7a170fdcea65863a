package io.kamille.cache.serve;

import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ByteRange;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Several parts of a stored response as one {@code multipart/byteranges} (RFC 9110 §14.6), on their
 * way to a client that may be slow. Confined to the client's loop.
 */
final class MultipartSource implements ContentSource {

  private final Reply reply;
  private final StoredOctets octets;
  private final Executor loop;
  private final long contentOffset;
  private final List<ByteRange> parts;
  private final String boundary = boundary();
  private final List<byte[]> delimiters = new ArrayList<>();
  private @Nullable ContentFeed feed;
  private int next;
  private boolean isPaused;
  private boolean isAdvancing;
  private boolean isEnded;

  /**
   * Takes over one lease on the response.
   *
   * @param contentType of each part, or null if the response has none
   * @param loop runs tasks on the client's loop
   */
  MultipartSource(
      Reply reply,
      StoredResponse stored,
      List<ByteRange> parts,
      @Nullable String contentType,
      Executor loop) {
    this.reply = reply;
    this.loop = loop;
    this.octets = stored.content();
    this.contentOffset = stored.contentOffset();
    this.parts = parts;
    String type = contentType == null ? "" : "Content-Type: " + contentType + "\r\n";
    for (ByteRange part : parts) {
      String before = delimiters.isEmpty() ? "--" : "\r\n--";
      String range = "Content-Range: " + part.contentRange() + "\r\n\r\n";
      delimiters.add(OwnLines.ascii(before + boundary + "\r\n" + type + range));
    }
    delimiters.add(OwnLines.ascii("\r\n--" + boundary + "--\r\n"));
    octets.retain();
    stored.release();
  }

  /** One that no content holds, but by a chance nobody has. */
  private static String boundary() {
    HexFormat hex = HexFormat.of();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  String contentType() {
    return "multipart/byteranges; boundary=" + boundary;
  }

  /** All octets, delimiters too. */
  long length() {
    long length = 0;
    for (ByteRange part : parts) {
      length += part.length();
    }
    for (byte[] delimiter : delimiters) {
      length += delimiter.length;
    }
    return length;
  }

  /** Begins, after the head was written. */
  void start() {
    advance();
  }

  /* The sink may call back from inside a write; the flag keeps this loop the only one. */
  private void advance() {
    if (isAdvancing) {
      return;
    }
    isAdvancing = true;
    boolean isWaiting = false;
    while (!isPaused && !isEnded && !isWaiting) {
      ContentFeed reading = feed;
      if (reading == null) {
        begin();
      } else if (reading.advance(parts.get(next).length())) {
        reading.close();
        feed = null;
        next++;
      } else {
        isWaiting = !reading.isPaused();
      }
    }
    isAdvancing = false;
  }

  /** Writes a delimiter, and opens the part behind it or ends behind the last. */
  private void begin() {
    reply.write(Unpooled.wrappedBuffer(delimiters.get(next)));
    if (isEnded) {
      return;
    }
    if (next == parts.size()) {
      end();
      reply.end(null);
      return;
    }
    octets.retain();
    long from = contentOffset + parts.get(next).offset();
    ContentFeed opened =
        ContentFeed.of(reply, octets, from, octets.isInFile(), loop, this::advance);
    if (isPaused) {
      opened.pause();
    }
    feed = opened;
  }

  @Override
  public void pause() {
    isPaused = true;
    if (feed != null) {
      feed.pause();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    if (feed != null) {
      feed.resume();
    }
    advance();
  }

  @Override
  public void cancel(Failure why) {
    if (!isEnded) {
      end();
    }
  }

  private void end() {
    isEnded = true;
    if (feed != null) {
      feed.close();
      feed = null;
    }
    octets.release();
  }
}
