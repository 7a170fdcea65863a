package io.kamille.cache.serve;

import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.content.Pieces;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ByteRange;
import io.kamille.core.http.Fields;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCounted;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Several parts of a stored response as one {@code multipart/byteranges} (RFC 9110 §14.6). Confined
 * to the client's loop. Owns one lease until it is closed.
 */
final class PartPieces implements Pieces {

  private final Executor loop;
  private final long contentOffset;
  private final List<ByteRange> parts;
  private final String boundary = boundary();
  private final List<byte[]> delimiters = new ArrayList<>();
  private Runnable more = () -> {};
  private @Nullable StoredOctets octets;
  private @Nullable StoredPieces part;
  private int given;

  /**
   * Takes over one lease on the response.
   *
   * @param contentType of each part, or null if the response has none
   * @param loop runs tasks on the client's loop
   */
  PartPieces(
      StoredResponse stored, List<ByteRange> parts, @Nullable String contentType, Executor loop) {
    this.loop = loop;
    this.contentOffset = stored.contentOffset();
    this.parts = parts;
    String type = contentType == null ? "" : "Content-Type: " + contentType + "\r\n";
    for (ByteRange range : parts) {
      String before = delimiters.isEmpty() ? "--" : "\r\n--";
      String line = "Content-Range: " + range.contentRange() + "\r\n\r\n";
      delimiters.add(Fields.octetsOf(before + boundary + "\r\n" + type + line));
    }
    delimiters.add(Fields.octetsOf("\r\n--" + boundary + "--\r\n"));
    stored.content().retain();
    this.octets = stored.content();
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

  /** A part, or the delimiter behind it. */
  @Override
  public void next(Queue<ReferenceCounted> window) {
    if (part != null) {
      part.next(window);
      if (!part.isDrained() || !window.isEmpty()) {
        return;
      }
      endPart();
    }
    if (octets != null && given < delimiters.size()) {
      window.add(Unpooled.wrappedBuffer(delimiters.get(given)));
      if (given < parts.size()) {
        part = open(octets, parts.get(given));
      }
      given++;
    }
  }

  private StoredPieces open(StoredOctets source, ByteRange range) {
    source.retain();
    long from = contentOffset + range.offset();
    StoredPieces opened = StoredPieces.of(source, from, range.length(), source.isInFile(), loop);
    opened.whenMore(more);
    return opened;
  }

  private void endPart() {
    if (part != null) {
      part.close(null);
      part = null;
    }
  }

  @Override
  public @Nullable End ending() {
    return part == null && given == delimiters.size() ? End.COMPLETE : null;
  }

  @Override
  public void whenMore(Runnable run) {
    more = run;
  }

  @Override
  public void close(@Nullable Failure why) {
    endPart();
    if (octets != null) {
      octets.release();
      octets = null;
    }
  }
}
