package io.kamille.core.h2;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;

/** A stream that a request was sent on. Confined to its loop. */
public interface ResponseTaker {

  /** Whether no final head has come. */
  boolean awaitsHead();

  /**
   * A head, interim or final, of which it becomes the owner.
   *
   * @param contentLength what it says of its content; -1 if nothing
   * @param isLast whether no content follows
   */
  void responded(ResponseHead head, long contentLength, boolean isLast);

  /** A head over its limits. */
  void headIsTooLarge();

  /** The trailer fields, of which it becomes the owner. The end follows. */
  void trailers(Fields fields);
}
