package io.kamille.perf.load;

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

  private static final int HEAD_LIMIT_BYTES = 64 * 1024;
  private static final String VERSION = "http/1.1 ";
  private static final int NO_LENGTH = -1;
  private static final int NOTHING_READ = 0;

  private final StringBuilder line = new StringBuilder();
  private int headLength;
  private boolean isInHead;
  private boolean isLast;
  private int status;
  private int contentLength;
  private int contentEnd;
  private int contentRead;
  private AnswerSource source = AnswerSource.ORIGIN;
  private @Nullable LoadRequest expected;
  private @Nullable LoadFailure failure;

  /** Awaits the response to that request. */
  void expect(LoadRequest request) {
    expected = request;
    failure = null;
    isInHead = true;
    isLast = false;
    line.setLength(0);
    headLength = 0;
    status = NOTHING_READ;
    contentLength = NO_LENGTH;
    contentEnd = 0;
    contentRead = 0;
    source = AnswerSource.ORIGIN;
  }

  /** Takes what it needs of the octets that came; what is left belongs to no response. */
  Progress read(ByteBuffer in) {
    while (isInHead && in.hasRemaining()) {
      char octet = (char) (in.get() & 0xff);
      if (octet != '\n') {
        line.append(octet);
      } else if (!endLine()) {
        return broken();
      }
      if (++headLength > HEAD_LIMIT_BYTES) {
        return broken();
      }
    }
    if (isInHead) {
      return Progress.MORE;
    }
    readContent(in);
    return contentRead == contentEnd ? Progress.COMPLETE : Progress.MORE;
  }

  /** Looks at a line and forgets it; false if it is not what may stand there. */
  private boolean endLine() {
    String text = line.toString().strip().toLowerCase(Locale.ROOT);
    line.setLength(0);
    if (status == NOTHING_READ) {
      boolean isStatus = text.startsWith(VERSION) && text.length() >= VERSION.length() + 3;
      status = isStatus ? number(text.substring(VERSION.length(), VERSION.length() + 3)) : -1;
      return status >= 200;
    }
    if (text.isEmpty()) {
      isInHead = false;
      return endHead();
    }
    int colon = Math.max(0, text.indexOf(':'));
    String value = text.substring(colon + 1).strip();
    switch (text.substring(0, colon)) {
      case "content-length" -> {
        int before = contentLength;
        contentLength = number(value);
        return contentLength >= 0 && (before == NO_LENGTH || before == contentLength);
      }
      case "connection" -> isLast |= value.contains("close");
      case "cache-status" -> {
        if (value.contains("; hit")) {
          source = value.contains("detail=disk") ? AnswerSource.DISK : AnswerSource.MEMORY;
        }
      }
      case "transfer-encoding" -> {
        return false;
      }
      default -> {}
    }
    return true;
  }

  /** A decimal number of nine digits at most; negative if there is none. */
  private static int number(String text) {
    boolean isNumber =
        !text.isEmpty() && text.length() <= 9 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    return isNumber ? Integer.parseInt(text) : -1;
  }

  /** Where the content ends; false if nobody says. */
  private boolean endHead() {
    boolean isWithoutContent = expectation().isWithoutContent(status);
    if (contentLength == NO_LENGTH && !isWithoutContent) {
      return false;
    }
    contentEnd = isWithoutContent ? 0 : contentLength;
    if (!expectation().isRight(status)) {
      failure = LoadFailure.WRONG_STATUS;
    } else if (contentLength != NO_LENGTH && contentLength != expectation().contentLength()) {
      failure = LoadFailure.WRONG_LENGTH;
    }
    return true;
  }

  private void readContent(ByteBuffer in) {
    int limit = in.limit();
    int count = Math.min(in.remaining(), contentEnd - contentRead);
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

  private Progress broken() {
    failure = LoadFailure.MALFORMED;
    return Progress.BROKEN;
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
