package io.kamille.core.client.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request that concern its connection: whether it persists, what follows the head,
 * and whether the request may be handed on at all. Used for one request after the other. Confined
 * to its loop.
 */
final class RequestTerms {

  /** Connection options and what we must look at before we hand a request on. */
  private static final long SPECIAL =
      Fields.mask(
          FieldName.CONNECTION,
          FieldName.EXPECT,
          FieldName.UPGRADE,
          FieldName.CONTENT_LENGTH,
          FieldName.TRANSFER_ENCODING);

  private boolean persistent;
  private boolean expectsContinue;
  private boolean isFollowed;
  private long framing;

  /**
   * Looks at this head.
   *
   * @param maxContentBytes content of one request; more is 413
   * @return why the request goes no further; null if it may
   */
  @Nullable Failure read(RequestHead head, long maxContentBytes) {
    persistent = head.minorVersion() == 1;
    expectsContinue = false;
    isFollowed = false;
    framing = 0;
    if (head.fields().hasAny(SPECIAL)) {
      Failure trouble = special(head, maxContentBytes);
      if (trouble != null) {
        return trouble;
      }
    }
    if (head.method() == Method.CONNECT) {
      return Failure.request(StatusCode.METHOD_NOT_ALLOWED, "CONNECT is for forward proxies");
    }
    if (ConnectionFields.isExcessive(head.fields())) {
      return Failure.request(StatusCode.BAD_REQUEST, "Connection names too much");
    }
    return null;
  }

  private @Nullable Failure special(RequestHead head, long maxContentBytes) {
    Fields fields = head.fields();
    persistent =
        !ConnectionFields.names(fields, "close")
            && (persistent || ConnectionFields.names(fields, "keep-alive"));
    framing = MessageFraming.of(head);
    if (framing > maxContentBytes) {
      return Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit");
    }
    if (fields.has(FieldName.EXPECT) && head.minorVersion() == 1) {
      if (!"100-continue".equalsIgnoreCase(fields.joined(FieldName.EXPECT))) {
        return Failure.request(
            StatusCode.EXPECTATION_FAILED, "an expectation other than 100-continue");
      }
      expectsContinue = framing != 0;
    }
    isFollowed = framing != 0 || fields.has(FieldName.UPGRADE);
    return null;
  }

  /** Whether the connection may go on behind the answer, as far as the client is concerned. */
  boolean isPersistent() {
    return persistent;
  }

  /** Whether the client waits to be asked for its content (RFC 9110 §10.1.1). */
  boolean expectsContinue() {
    return expectsContinue;
  }

  /** Whether content, or another protocol, may follow the head. */
  boolean isFollowed() {
    return isFollowed;
  }

  /** The framing of the content, as {@link MessageFraming} found it. */
  long framing() {
    return framing;
  }
}
