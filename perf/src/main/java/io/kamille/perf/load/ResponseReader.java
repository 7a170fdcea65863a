package io.kamille.perf.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the responses of one connection, however they are cut, and compares each with what was
 * expected. Confined to the client's thread.
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
  private static final int LINE_LIMIT_BYTES = 256;
  private static final byte[] VERSION = ascii("http/1.1 ");
  private static final byte[] CONTENT_LENGTH = ascii("content-length:");
  private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding:");
  private static final byte[] CONNECTION = ascii("connection:");
  private static final byte[] CLOSE = ascii("close");
  private static final byte[] RETRY_AFTER = ascii("retry-after:");
  private static final byte[] CACHE_STATUS = ascii("cache-status:");
  private static final byte[] HIT = ascii("; hit");
  private static final byte[] FROM_DISK = ascii("detail=disk");
  private static final int NO_LENGTH = -1;

  private final byte[] line = new byte[LINE_LIMIT_BYTES];
  private int lineLength;
  private int headLength;
  private boolean isInHead;
  private boolean isStatusLineRead;
  private boolean isLast;
  private int status;
  private int contentLength;
  private int contentEnd;
  private int contentRead;
  private int retryAfterSeconds;
  private AnswerSource source = AnswerSource.ORIGIN;
  private @Nullable LoadRequest expected;
  private @Nullable LoadFailure failure;

  /** Awaits the response to that request. */
  void expect(LoadRequest request) {
    expected = request;
    failure = null;
    isInHead = true;
    isStatusLineRead = false;
    isLast = false;
    lineLength = 0;
    headLength = 0;
    contentLength = NO_LENGTH;
    contentEnd = 0;
    contentRead = 0;
    retryAfterSeconds = 0;
    source = AnswerSource.ORIGIN;
  }

  /** Takes what it needs of the octets that came; what is left belongs to no response. */
  Progress read(ByteBuffer in) {
    if (isInHead) {
      Progress progress = readHead(in);
      if (isInHead || progress == Progress.BROKEN) {
        return progress;
      }
    }
    readContent(in);
    return contentRead == contentEnd ? Progress.COMPLETE : Progress.MORE;
  }

  private Progress readHead(ByteBuffer in) {
    while (in.hasRemaining()) {
      byte octet = in.get();
      if (++headLength > HEAD_LIMIT_BYTES) {
        return broken();
      }
      if (octet == '\n') {
        if (!endLine()) {
          return broken();
        }
        if (!isInHead) {
          return endHead();
        }
      } else if (lineLength < LINE_LIMIT_BYTES) {
        line[lineLength++] = lower(octet);
      }
    }
    return Progress.MORE;
  }

  /** Looks at a line and forgets it; false if it is not what may stand there. */
  private boolean endLine() {
    if (lineLength > 0 && line[lineLength - 1] == '\r') {
      lineLength--;
    }
    boolean isUnderstood = true;
    if (!isStatusLineRead) {
      isUnderstood = readStatus();
      isStatusLineRead = true;
    } else if (lineLength == 0) {
      isInHead = false;
    } else if (beginsWith(CONTENT_LENGTH)) {
      isUnderstood = readContentLength();
    } else if (beginsWith(CONNECTION)) {
      isLast |= lineContains(CLOSE);
    } else if (beginsWith(CACHE_STATUS)) {
      readCacheStatus();
    } else if (beginsWith(RETRY_AFTER)) {
      retryAfterSeconds = Math.max(0, numberBehind(RETRY_AFTER));
    } else if (beginsWith(TRANSFER_ENCODING)) {
      isUnderstood = false;
    }
    lineLength = 0;
    return isUnderstood;
  }

  private boolean readStatus() {
    if (!beginsWith(VERSION) || lineLength < VERSION.length + 3) {
      return false;
    }
    status = number(VERSION.length, VERSION.length + 3);
    return status >= 200;
  }

  private boolean readContentLength() {
    int before = contentLength;
    contentLength = numberBehind(CONTENT_LENGTH);
    return contentLength >= 0 && (before == NO_LENGTH || before == contentLength);
  }

  /** The number that is the line's value behind that name; negative if there is none. */
  private int numberBehind(byte[] name) {
    int from = name.length;
    while (from < lineLength && line[from] == ' ') {
      from++;
    }
    return number(from, lineLength);
  }

  private void readCacheStatus() {
    if (lineContains(HIT)) {
      source = lineContains(FROM_DISK) ? AnswerSource.DISK : AnswerSource.MEMORY;
    }
  }

  /** The decimal number between two places of the line; negative if there is none. */
  private int number(int from, int to) {
    if (from == to || to - from > 9) {
      return -1;
    }
    int value = 0;
    for (int i = from; i < to; i++) {
      int digit = line[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  private Progress endHead() {
    LoadRequest request = expectation();
    boolean isWithoutContent = request.isWithoutContent(status);
    if (contentLength == NO_LENGTH && !isWithoutContent) {
      return broken();
    }
    contentEnd = isWithoutContent ? 0 : contentLength;
    if (!request.isRight(status)) {
      failure = LoadFailure.WRONG_STATUS;
    } else if (contentLength != NO_LENGTH && contentLength != request.contentLength()) {
      failure = LoadFailure.WRONG_LENGTH;
    }
    return Progress.MORE;
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

  /** The status code. */
  int status() {
    return status;
  }

  /** How long the server asks to be left alone; 0 if it does not say, or says it by a date. */
  int retryAfterSeconds() {
    return retryAfterSeconds;
  }

  /** Where the response came from, as far as its Cache-Status (RFC 9211) says. */
  AnswerSource source() {
    return source;
  }

  /** Octets of content that came so far. */
  int contentRead() {
    return contentRead;
  }

  /** Whether the server said that this is the last response on its connection. */
  boolean isLast() {
    return isLast;
  }

  private boolean beginsWith(byte[] word) {
    return line[0] == word[0] && matches(0, word);
  }

  private boolean lineContains(byte[] word) {
    for (int i = 0; i <= lineLength - word.length; i++) {
      if (matches(i, word)) {
        return true;
      }
    }
    return false;
  }

  private boolean matches(int offset, byte[] word) {
    if (lineLength - offset < word.length) {
      return false;
    }
    for (int i = 0; i < word.length; i++) {
      if (line[offset + i] != word[i]) {
        return false;
      }
    }
    return true;
  }

  private static byte lower(byte octet) {
    return octet >= 'A' && octet <= 'Z' ? (byte) (octet | 0x20) : octet;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
