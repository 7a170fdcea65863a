package io.kamille.cache.rules;

import java.util.Locale;

/** What is done with a request. */
public enum Decision {
  /** A stored response is the answer. */
  SERVE,
  /** A stored response is the answer, and the origin is asked about it meanwhile (RFC 5861 §3). */
  SERVE_STALE,
  /** The origin is asked whether a stored response is still good (RFC 9111 §4.3). */
  VALIDATE,
  /** The origin is asked for the response, which may be stored. */
  FORWARD,
  /** The origin is asked for the response, which will not be stored. */
  PASS,
  /** The answer is our own, by the settings of the route. */
  ANSWER,
  /** What is stored under the key is removed, if the client may ask for it. */
  PURGE,
  /** The answer is an error of our own, such as 504 for only-if-cached (RFC 9111 §5.2.1.7). */
  REFUSE;

  private final String token = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** A token for people and programs; no garbage. */
  public String token() {
    return token;
  }
}
