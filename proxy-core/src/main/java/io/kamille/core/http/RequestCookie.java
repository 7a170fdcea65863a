package io.kamille.core.http;

import org.jspecify.annotations.Nullable;

/** Reads one cookie of a request (RFC 6265 §4.2). Stateless; any thread. */
public final class RequestCookie {

  private RequestCookie() {}

  /** The value of the first cookie of that name, or null. */
  public static @Nullable String value(Fields request, String name) {
    for (int i = request.indexOf(FieldName.COOKIE);
        i >= 0;
        i = request.indexOf(FieldName.COOKIE, i + 1)) {
      for (String pair : request.valueAt(i).split(";", -1)) {
        String cookie = pair.strip();
        if (cookie.length() > name.length()
            && cookie.startsWith(name)
            && cookie.charAt(name.length()) == '=') {
          return cookie.substring(name.length() + 1);
        }
      }
    }
    return null;
  }
}
