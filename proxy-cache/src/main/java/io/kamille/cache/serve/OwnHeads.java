package io.kamille.cache.serve;

import io.kamille.core.http.ByteRange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes heads of 304, 206 and 416 from the head of the response they stand for. They keep all
 * fields but those that tell of content they do not carry. Stateless; any thread.
 */
public final class OwnHeads {

  /*
   * A 304 needs no representation metadata but validators (RFC 9110 §15.4.5): the client has it. A
   * 416 has none of its representation, which is why it lacks the validators and the lifetime, too.
   * Content-Digest and Content-MD5 are of the content of one message (RFC 9530 §2); Repr-Digest and
   * Digest are of the whole, and right on a part (§3).
   */
  private static final Set<String> OF_CONTENT_ALONE = Set.of("content-digest", "content-md5");

  private static final Set<String> METADATA =
      Set.of(
          "content-digest",
          "content-disposition",
          "content-encoding",
          "content-language",
          "content-length",
          "content-md5",
          "content-range",
          "content-type",
          "digest",
          "repr-digest",
          "trailer",
          "transfer-encoding");

  private static final Set<String> OF_THE_WHOLE =
      Set.of(
          "age",
          "cache-control",
          "cdn-cache-control",
          "content-location",
          "date",
          "etag",
          "expires",
          "last-modified",
          "pragma");

  private static final int LEAST_LINE = "content-md5:".length();

  private OwnHeads() {}

  /** The head of a 304 (RFC 9110 §15.4.5); {@code full} is borrowed. */
  public static ResponseHead notModified(ResponseHead full, RequestHead request) {
    Fields fields = without(METADATA, full.fields(), request);
    if (fields.has(FieldName.ETAG)) {
      fields.remove(FieldName.LAST_MODIFIED);
    }
    return ResponseHead.of(StatusCode.NOT_MODIFIED, fields);
  }

  /** The head of a 416 (RFC 9110 §15.5.17); {@code full} is borrowed. */
  static ResponseHead unsatisfiable(ResponseHead full, RequestHead request, ByteRange range) {
    Fields fields = without(METADATA, full.fields(), request);
    OF_THE_WHOLE.forEach(fields::remove);
    fields.add(FieldName.CONTENT_RANGE, range.contentRange());
    return ResponseHead.of(StatusCode.RANGE_NOT_SATISFIABLE, fields);
  }

  /** Makes the fields of a response those of several parts of it. */
  static void ofParts(Fields fields) {
    OF_CONTENT_ALONE.forEach(fields::remove);
  }

  /** The field lines of a part, of those of the whole. Takes ownership, and gives it. */
  static ByteBuf ofPart(ByteBuf lines) {
    ByteBuf kept = null;
    int end;
    for (int start = lines.readerIndex(); start < lines.writerIndex(); start = end) {
      int feed = lines.indexOf(start, lines.writerIndex(), (byte) '\n');
      end = feed < 0 ? lines.writerIndex() : feed + 1;
      boolean isDropped = isOfContentAlone(lines, start, end);
      if (isDropped && kept == null) {
        kept = lines.alloc().directBuffer(lines.readableBytes());
        kept.writeBytes(lines, lines.readerIndex(), start - lines.readerIndex());
      } else if (!isDropped && kept != null) {
        kept.writeBytes(lines, start, end - start);
      }
    }
    if (kept == null) {
      return lines;
    }
    lines.release();
    return kept;
  }

  private static boolean isOfContentAlone(ByteBuf lines, int start, int end) {
    int hyphen = start + "content".length();
    if (end - start < LEAST_LINE || lines.getByte(hyphen) != '-') {
      return false;
    }
    int colon = lines.indexOf(hyphen, end, (byte) ':');
    return colon >= 0
        && OF_CONTENT_ALONE.contains(
            lines
                .toString(start, colon - start, StandardCharsets.ISO_8859_1)
                .toLowerCase(Locale.ROOT));
  }

  private static Fields without(Set<String> dropped, Fields from, RequestHead request) {
    Fields to = new Fields();
    for (int i = 0; i < from.size(); i++) {
      boolean isToldTo = !isOfTags(from.knownAt(i)) || request.sender() != Sender.CLIENT;
      if (isToldTo && !dropped.contains(from.nameAt(i).toLowerCase(Locale.ROOT))) {
        to.addFrom(from, i);
      }
    }
    return to;
  }

  private static boolean isOfTags(@Nullable FieldName name) {
    return name == FieldName.CACHE_TAG || name == FieldName.SURROGATE_KEY;
  }
}
