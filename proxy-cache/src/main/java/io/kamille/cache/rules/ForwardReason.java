package io.kamille.cache.rules;

/** Why a request goes toward the origin: the values of {@code fwd} (RFC 9211 §2.2). */
public enum ForwardReason {
  /** The cache was configured, or asked by the request's nature, not to handle this request. */
  BYPASS("bypass"),
  /** The method requires the request to be forwarded. */
  METHOD("method"),
  /** Nothing is stored under the target URI. */
  URI_MISS("uri-miss"),
  /** Something is stored under the target URI, but its selecting fields do not match. */
  VARY_MISS("vary-miss"),
  /** Nothing stored could satisfy the request; we do not say why. */
  MISS("miss"),
  /** A fresh response was selected, but the request did not allow its use. */
  REQUEST("request"),
  /** A response was selected, but it was stale or must be validated on every use. */
  STALE("stale"),
  /** A partial response was selected that lacks what was asked for. */
  PARTIAL("partial");

  private final String token;

  ForwardReason(String token) {
    this.token = token;
  }

  /** The token of the {@code Cache-Status} field, the log and the metric label. */
  public String token() {
    return token;
  }
}
