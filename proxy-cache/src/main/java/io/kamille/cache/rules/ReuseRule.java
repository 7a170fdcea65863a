package io.kamille.cache.rules;

/** The rule that settles what becomes of a request: the first that {@link ReusePlanner} meets. */
public enum ReuseRule {
  METHOD("method", "RFC 9111 §4", "only GET and HEAD are answered from the store"),
  CONTENT("request-content", "RFC 9110 §9.3.1", "the request has content, which no key covers"),
  UPGRADE("upgrade", "RFC 9110 §7.8", "the request asks for another protocol"),
  CONNECTION(
      "connection-option", "RFC 9110 §7.6.1", "a field is for the connection, not for the origin"),
  NOTHING_STORED("uri-miss", "RFC 9111 §4", "nothing is stored under the key"),
  NO_VARIANT("vary-miss", "RFC 9111 §4.1", "what is stored was selected by other request fields"),
  ORIGIN_JUDGES("precondition", "RFC 9111 §4.3.2", "the condition is for the origin to judge"),
  REQUEST_NO_STORE("request-no-store", "RFC 9111 §5.2.1.5", "the client wants nothing stored"),
  REQUEST_NO_CACHE("request-no-cache", "RFC 9111 §5.2.1.4", "the client wants it validated"),
  REQUEST_MAX_AGE("request-max-age", "RFC 9111 §5.2.1.1", "it is older than the client wants"),
  REQUEST_MIN_FRESH("request-min-fresh", "RFC 9111 §5.2.1.3", "it is not fresh for long enough"),
  FRESH("fresh", "RFC 9111 §4.2", "it is fresh"),
  MAX_STALE("request-max-stale", "RFC 9111 §5.2.1.2", "the client takes it stale"),
  STALE_WHILE_REVALIDATE(
      "stale-while-revalidate", "RFC 5861 §3", "it may be used while it is validated"),
  NO_CACHE("no-cache", "RFC 9111 §5.2.2.4", "it is validated before every use"),
  STALE("stale", "RFC 9111 §4.2.4", "it is stale, and nothing allows to use it so");

  private final String token;
  private final String section;
  private final String clause;

  ReuseRule(String token, String section, String clause) {
    this.token = token;
    this.section = section;
    this.clause = clause;
  }

  /** A token for programs. */
  public String token() {
    return token;
  }

  /** Where it stands. */
  public String section() {
    return section;
  }

  /** The rule in one clause, for people. */
  public String clause() {
    return clause;
  }
}
