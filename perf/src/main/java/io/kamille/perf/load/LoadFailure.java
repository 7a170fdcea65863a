package io.kamille.perf.load;

/** Why a request did not get the right response. */
public enum LoadFailure {
  /** No connection could be had. */
  CONNECT,
  /** The connection was reset, or would not take the request. */
  RESET,
  /** The connection was closed before the response was complete. */
  CLOSED,
  /** The response was not complete within the limit. */
  TIME_OUT,
  /** What came is no response as RFC 9112 has it, or framed in a way we do not read. */
  MALFORMED,
  /** Another status code than expected. */
  WRONG_STATUS,
  /** Another Content-Length than expected, or octets behind the content. */
  WRONG_LENGTH,
  /** Of the right length, but not the right octets. */
  WRONG_CONTENT
}
