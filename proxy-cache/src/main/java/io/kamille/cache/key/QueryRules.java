package io.kamille.cache.key;

/**
 * Which query parameters a route lets through, and in which order they count. Immutable; any
 * thread.
 *
 * @param listed the parameters that are kept or ignored
 * @param keepsListed whether those alone are kept; otherwise all but those
 * @param sorts whether parameters are brought into an order of their names
 */
public record QueryRules(NamePatterns listed, boolean keepsListed, boolean sorts) {

  /** Every query stays as it came. */
  public static final QueryRules NONE = new QueryRules(NamePatterns.NONE, false, false);

  /** Whether every query stays as it came. */
  public boolean isNone() {
    return listed.isEmpty() && !keepsListed && !sorts;
  }

  /** Whether a parameter of that name, percent-decoded, is let through. */
  boolean lets(byte[] name, int length) {
    return listed.match(name, 0, length) == keepsListed;
  }
}
