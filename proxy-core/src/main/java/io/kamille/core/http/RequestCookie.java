package io.kamille.core.http;

import org.jspecify.annotations.Nullable;

/** Reads one cookie of a request (RFC 6265 §4.2). Stateless; any thread. */
public final class RequestCookie {

  private RequestCookie() {}

  /** What {@link #find} says of a cookie that is not there. */
  public static final long NONE = -1;

  /** The value of the first cookie of that name, or null. */
  public static @Nullable String value(Fields request, String name) {
    long found = find(request, name);
    return found == NONE ? null : Octets.text(request.octets(), start(found), end(found));
  }

  /** Where the value of the first cookie of that name lies, or {@link #NONE}. Makes no garbage. */
  public static long find(Fields request, String name) {
    for (int i = request.indexOf(FieldName.COOKIE);
        i >= 0;
        i = request.indexOf(FieldName.COOKIE, i + 1)) {
      long found = find(request.octets(), request.valueStart(i), request.valueEnd(i), name);
      if (found != NONE) {
        return found;
      }
    }
    return NONE;
  }

  private static long find(byte[] octets, int start, int end, String name) {
    int at = start;
    while (at < end) {
      int from = Octets.skipBlanks(octets, at, end);
      int semicolon = Octets.indexOf(octets, from, end, ';');
      int to = Octets.trimmedEnd(octets, from, semicolon);
      at = semicolon + 1;
      int equals = from + name.length();
      if (equals < to && octets[equals] == '=' && Octets.equals(octets, from, equals, name)) {
        return (long) (equals + 1) << Integer.SIZE | to;
      }
    }
    return NONE;
  }

  /** Where that begins. */
  public static int start(long found) {
    return (int) (found >>> Integer.SIZE);
  }

  /** Where that ends. */
  public static int end(long found) {
    return (int) found;
  }
}
