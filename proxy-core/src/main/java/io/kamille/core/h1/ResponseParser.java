package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Reads the head of a response, strictly (RFC 9112 §4, §5). Confined to its loop.
 *
 * <p>One leniency, since many origins rely on it: the space before an absent reason phrase may be
 * absent too. A minor version above 1 is treated as 1 (RFC 9110 §6.2).
 */
public final class ResponseParser extends SectionParser {

  private static final int MAX_STATUS_LINE = 1024;
  private static final String VERSION = "HTTP/1.";

  private ResponseHead head;
  private Method asked = Method.GET;

  /** A parser for responses under these limits. */
  public ResponseParser(HeadLimits limits) {
    ResponseHead head = new ResponseHead();
    super(head.fields(), limits.fields(), limits.headBytes(), true);
    this.head = head;
  }

  /** The head under construction, complete after {@code COMPLETE}. */
  public ResponseHead head() {
    return head;
  }

  /** Begins anew: the next heads answer a request by this method. */
  public void reset(Method method) {
    asked = method;
    reset();
  }

  /** Begins anew over the same head. */
  public void reset() {
    head.clear();
    restart(head.fields());
  }

  @Override
  int startLine(byte[] octets, int start, int end) {
    int at = start;
    for (int i = 0; i < VERSION.length(); i++, at++) {
      if (octets[at] != VERSION.charAt(i)) {
        return reject(bad("no HTTP/1 status line"));
      }
    }
    if (!Octets.isDigit(octets[at]) || octets[at + 1] != ' ') {
      return reject(bad("no HTTP/1 status line"));
    }
    int minor = Math.min(octets[at] - '0', 1);
    int status = (int) Octets.decimal(octets, at + 2, at + 5);
    if (status < StatusCode.CONTINUE || status > StatusCode.GREATEST) {
      return reject(bad("no status code of 100 to 599"));
    }
    at += 5;
    if (octets[at] == ' ') {
      at = endOfText(octets, at + 1, end);
    }
    if (octets[at] != '\r' || octets[at + 1] != '\n') {
      return reject(bad("a status line that does not end in CRLF"));
    }
    head.startLine(status, minor);
    startLineIsDone();
    return at + 2;
  }

  @Override
  @Nullable Failure finish() {
    return MessageFraming.endsWithHead(head, asked) ? null : MessageFraming.fault(head);
  }

  @Override
  Failure bad(String reason) {
    return Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, reason);
  }

  @Override
  Failure tooLarge(boolean inFields) {
    return Failure.of(
        ErrorType.HTTP_RESPONSE_HEADER_SECTION_SIZE, "a response head over its limit");
  }

  @Override
  int startLineLimit() {
    return MAX_STATUS_LINE;
  }
}
