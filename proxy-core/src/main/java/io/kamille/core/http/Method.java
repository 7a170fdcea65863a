package io.kamille.core.http;

/**
 * A request method (RFC 9110 §9, RFC 5789). Any token is a method; those unknown are {@link
 * #OTHER}.
 */
public enum Method {
  GET(true, true),
  HEAD(true, true),
  POST(false, false),
  PUT(false, true),
  DELETE(false, true),
  CONNECT(false, false),
  OPTIONS(true, true),
  TRACE(true, true),
  PATCH(false, false),
  /** A token we do not know: neither safe nor idempotent, as far as we can tell. */
  OTHER(false, false);

  private static final Method[] KNOWN = {
    GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH
  };

  private final boolean safe;
  private final boolean idempotent;

  Method(boolean safe, boolean idempotent) {
    this.safe = safe;
    this.idempotent = idempotent;
  }

  /** RFC 9110 §9.2.1. */
  public boolean isSafe() {
    return safe;
  }

  /** RFC 9110 §9.2.2. */
  public boolean isIdempotent() {
    return idempotent;
  }

  /** The method that the octets in {@code [start, end)} spell. Methods are case-sensitive. */
  public static Method of(byte[] octets, int start, int end) {
    for (Method method : KNOWN) {
      if (method.spelledBy(octets, start, end)) {
        return method;
      }
    }
    return OTHER;
  }

  private boolean spelledBy(byte[] octets, int start, int end) {
    String name = name();
    if (end - start != name.length()) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      if (octets[start + i] != name.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
