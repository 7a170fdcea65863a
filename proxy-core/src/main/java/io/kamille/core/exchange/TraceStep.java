package io.kamille.core.exchange;

import java.util.Locale;

/** A step of an exchange on its way through the stations, as traces have it. */
public enum TraceStep {
  /** The router found the route; its name. */
  ROUTE,
  /** The route let the request pass, refused it, or asks who its client is; which of these. */
  AUTH,
  /** The cache looked the target up; what it has. */
  LOOKUP,
  /** The request waits for the disk, or goes on from it. */
  DISK,
  /** The cache decided what to do with what it has; the decision. */
  DECISION,
  /** The request leads the requests for its key, or waits behind one. */
  COLLAPSE,
  /** An origin was chosen; its name. */
  ORIGIN,
  /** The request has a connection to it and is sent; a new or a used one. */
  SEND,
  /** No connection, or no whole response; why. */
  FAILED_ATTEMPT,
  /** The head of the response has come; its status code. */
  RESPONSE,
  /** The response is or is not being stored; why not. */
  STORE,
  /** The last octet of the response has come. */
  RESPONSE_END;

  private final String token = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** The word for it in the API, such as {@code response-end}. */
  public String token() {
    return token;
  }
}
