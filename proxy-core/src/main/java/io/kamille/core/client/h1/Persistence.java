package io.kamille.core.client.h1;

import io.kamille.core.client.h1.ReplyHeads.ConnectionLine;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Whether the connection goes on behind an answer (RFC 9112 §9.3), and what becomes of the content
 * that stands in the way. Used for one answer after the other. Confined to its loop.
 */
final class Persistence {

  private boolean isPersistent;
  private @Nullable ClientContent content;

  /** Of a request that is not complete: it does not. */
  void begin() {
    isPersistent = false;
    content = null;
  }

  /** The client asks for this, and may send that content. */
  void asked(boolean isPersistent, @Nullable ClientContent content) {
    this.isPersistent = isPersistent;
    this.content = content;
  }

  /** It does not. */
  void end() {
    isPersistent = false;
  }

  /** Nobody takes the rest of the content: the connection goes on if dropping it is cheap. */
  void contentIsDropped() {
    isPersistent = isPersistent && content != null && content.mayBeDropped();
  }

  /** Decides, at the head of the answer; {@code mustEnd} if there is another reason to end. */
  void settle(boolean mustEnd) {
    isPersistent = isPersistent && !mustEnd;
    if (isPersistent && content != null && !content.isComplete() && !content.isWanted()) {
      isPersistent = content.mayBeDropped();
    }
  }

  boolean isPersistent() {
    return isPersistent;
  }

  /** What the answer says of it. */
  ConnectionLine line(RequestHead request) {
    if (!isPersistent) {
      return ConnectionLine.CLOSE;
    }
    return request.minorVersion() == 0 ? ConnectionLine.KEEP_ALIVE : ConnectionLine.NONE;
  }

  /** Whether the request could be followed by something, and all its content has come. */
  boolean isContentComplete() {
    return content != null && content.isComplete();
  }

  /** The request failed: the rest of its content is for nobody, and who failed it knows. */
  void dismissContent() {
    if (content != null && !content.isComplete()) {
      content.dismiss();
      contentIsDropped();
    }
  }

  /** As {@link #dismissContent}; who took the content has to be told. */
  @Nullable ContentSink releaseTaker() {
    return content == null ? null : content.dismiss();
  }

  /** The client is gone. */
  void breakOff(Failure why) {
    if (content != null) {
      content.breakOff(why);
    }
  }

  /** The answer is out: content that nobody takes is read and dropped before the next request. */
  void answered() {
    if (isPersistent && content != null && !content.isComplete() && !content.isTaken()) {
      content.drop();
    }
  }

  /** Whether nothing of the request is left to read, or to matter. */
  boolean isContentOver() {
    return content == null || content.isOver(isPersistent);
  }
}
