package io.kamille.perf.load;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.ResponseParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to one request after another and compares it with what is expected. Confined
 * to the client's thread.
 */
final class ResponseReader {

  /*
   * Framed by Content-Length alone; a response in chunks, or one that ends with the connection, is
   * MALFORMED to us. Every response is read to its end, the wrong ones too, so that the connection
   * can be used again: a proxy that answers 503 must not be asked to accept more for it.
   */

  enum Progress {
    /** More octets are needed. */
    MORE,
    /** The response is complete; {@link #failure} says whether it is right. */
    COMPLETE,
    /** No end can be found: the connection is of no more use. */
    BROKEN
  }

  private final ResponseParser parser = new ResponseParser(HeadLimits.RESPONSE);
  private boolean isInHead;
  private boolean isLast;
  private long contentEnd;
  private int contentRead;
  private AnswerSource source = AnswerSource.ORIGIN;
  private @Nullable LoadRequest expected;
  private @Nullable LoadFailure failure;

  /** Awaits the response to that request. */
  void expect(LoadRequest request) {
    expected = request;
    parser.reset(request.isHead() ? Method.HEAD : Method.GET);
    failure = null;
    isInHead = true;
    isLast = false;
    contentEnd = 0;
    contentRead = 0;
    source = AnswerSource.ORIGIN;
  }

  /** Takes what it needs of the octets that came; what is left belongs to no response. */
  Progress read(ByteBuffer in) {
    if (isInHead) {
      ByteBuf octets = Unpooled.wrappedBuffer(in);
      ResponseParser.Outcome outcome = parser.parse(octets);
      in.position(in.position() + octets.readerIndex());
      if (outcome == ResponseParser.Outcome.NEED_MORE) {
        return Progress.MORE;
      }
      if (outcome == ResponseParser.Outcome.MALFORMED || !endHead(parser.head())) {
        failure = LoadFailure.MALFORMED;
        return Progress.BROKEN;
      }
      isInHead = false;
    }
    readContent(in);
    return contentRead == contentEnd ? Progress.COMPLETE : Progress.MORE;
  }

  /** Looks at the head; false if it does not say where the content ends as we read it. */
  private boolean endHead(ResponseHead head) {
    boolean isWithoutContent = expectation().isWithoutContent(head.status());
    long length = MessageFraming.declared(head);
    boolean isFramed = length >= 0 || (length == MessageFraming.UNTIL_CLOSE && isWithoutContent);
    if (head.isInterim() || head.minorVersion() == 0 || !isFramed) {
      return false;
    }
    contentEnd = isWithoutContent ? 0 : length;
    String connection = head.field(FieldName.CONNECTION);
    isLast = connection != null && connection.toLowerCase(Locale.ROOT).contains("close");
    String cache = head.field(FieldName.CACHE_STATUS);
    if (cache != null && cache.contains("; hit")) {
      source = cache.contains("detail=disk") ? AnswerSource.DISK : AnswerSource.MEMORY;
    }
    if (!expectation().isRight(head.status())) {
      failure = LoadFailure.WRONG_STATUS;
    } else if (length >= 0 && length != expectation().contentLength()) {
      failure = LoadFailure.WRONG_LENGTH;
    }
    return true;
  }

  private void readContent(ByteBuffer in) {
    int limit = in.limit();
    int count = (int) Math.min(in.remaining(), contentEnd - contentRead);
    in.limit(in.position() + count);
    if (failure == null && !expectation().hasContent(contentRead, in)) {
      failure = LoadFailure.WRONG_CONTENT;
    }
    contentRead += count;
    in.position(in.limit()).limit(limit);
  }

  private LoadRequest expectation() {
    if (expected == null) {
      throw new IllegalStateException("no response is expected");
    }
    return expected;
  }

  /** What is wrong with the response; null if nothing is so far. */
  @Nullable LoadFailure failure() {
    return failure;
  }

  /** Where the response came from, as far as its Cache-Status (RFC 9211) says. */
  AnswerSource source() {
    return source;
  }

  /** Whether the server said that this is the last response on its connection. */
  boolean isLast() {
    return isLast;
  }
}
