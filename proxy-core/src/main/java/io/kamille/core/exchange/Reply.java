package io.kamille.core.exchange;

import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request, as the stations see it. Confined to the exchange's loop.
 *
 * <p>Order of calls: {@link #open} at most once, {@link #interim} any number of times, then one of
 * {@link #head} followed by content and {@code end} or {@code abort}; {@link #stored}; or {@link
 * #fail}. Once the client is gone, all calls are accepted and do nothing but release what they are
 * given.
 */
public interface Reply extends ContentSink {

  /** What {@link #head} is told when only the end of the content will tell its length. */
  long UNKNOWN_LENGTH = -1;

  /**
   * Names whom to pause when the client is slow, and to cancel when it goes away. Before this call
   * nobody is told.
   */
  void open(ContentSource source);

  /** Passes an interim response (1xx) on. Borrows the head until it returns. */
  void interim(ResponseHead head);

  /**
   * Begins the final response. Connection-specific fields must be gone, except {@code Upgrade} in a
   * 101. Framing fields are the connection's to write. Borrows the head until it returns; the
   * stations on the way may add to it.
   *
   * @param contentLength octets of content to come, or {@link #UNKNOWN_LENGTH}. For a response to
   *     HEAD, and for 304, the length the selected representation has, if known; no content
   *     follows, but {@code end} does.
   */
  void head(ResponseHead head, long contentLength);

  /**
   * As {@link #head(ResponseHead, long)}, where all content may be at hand already.
   *
   * @param whole its next {@code contentLength} octets are the content; borrowed. Null if some is
   *     still to come
   * @return whether the reply has taken the content with the head; else it follows as usual
   */
  default boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    head(head, contentLength);
    return false;
  }

  /**
   * Sends a whole response whose field lines are octets already: the fast way for a hit. The reply
   * is ended with it.
   *
   * @param ownLines scratch octets holding encoded field lines, each with CRLF, {@code
   *     Content-Length} among them; borrowed
   * @param ownLength how many of them count
   * @param linesAndContent encoded field lines, the empty line, and content unless the request was
   *     HEAD; takes ownership
   * @param contentLength octets of content among them, for log and metrics
   */
  void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength);

  /**
   * As {@link #stored}, but content follows by {@code write} and {@code end}.
   *
   * @param lines encoded field lines and the empty line; takes ownership
   * @param contentLength octets of content to come
   */
  void storedHead(int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength);

  /**
   * Tells the client that the request failed, by an answer of our own if none has begun, else by
   * breaking the message off.
   */
  void fail(Failure failure);

  /** Whether a final head was sent, so that another answer is out of the question. */
  boolean isBegun();

  /** Whether the reply has come to its end, one way or the other. */
  boolean isEnded();
}
