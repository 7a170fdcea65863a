package io.kamille.core.h2;

/** Who has the streams of one connection. Confined to its loop. */
public interface StreamOwner {

  /** A stream is over, whichever way. */
  void over(H2Stream stream);

  /** The connection has to be closed once what is queued has left. */
  void failed(ErrorCode code, String reason);
}
