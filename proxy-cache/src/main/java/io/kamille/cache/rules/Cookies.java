package io.kamille.cache.rules;

import io.kamille.cache.key.NamePatterns;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;

/** Reads {@code Cookie} fields (RFC 6265 §4.2) no further than names. Stateless; any thread. */
public final class Cookies {

  /*
   * Origins differ in how they read cookies, so names are compared loosely: a comma separates as a
   * semicolon does, a cookie without an equals sign is all name, letters of either case are the
   * same, octets that some language takes for white space are trimmed (Python trims U+00A0), and
   * what PHP turns into an underscore is one. To find a cookie too many costs a hit, to overlook
   * one shares what is private.
   */

  private Cookies() {}

  /** Whether the request has a cookie of that name. Makes no garbage. */
  public static boolean has(Fields request, NamePatterns names) {
    if (names.isEmpty()) {
      return false;
    }
    for (int i = request.indexOf(FieldName.COOKIE);
        i >= 0;
        i = request.indexOf(FieldName.COOKIE, i + 1)) {
      if (has(request.octets(), request.valueStart(i), request.valueEnd(i), names)) {
        return true;
      }
    }
    return false;
  }

  private static boolean has(byte[] octets, int start, int end, NamePatterns names) {
    int at = start;
    while (at < end) {
      int nameStart = at;
      int nameEnd = -1;
      while (at < end && octets[at] != ';' && octets[at] != ',') {
        if (octets[at] == '=' && nameEnd < 0) {
          nameEnd = at;
        }
        at++;
      }
      if (hasName(octets, nameStart, nameEnd < 0 ? at : nameEnd, names)) {
        return true;
      }
      at++;
    }
    return false;
  }

  private static boolean hasName(byte[] octets, int from, int to, NamePatterns names) {
    int start = from;
    int end = to;
    while (start < end && isSpace(octets[start])) {
      start++;
    }
    while (start < end && isSpace(octets[end - 1])) {
      end--;
    }
    return start < end && names.matchLoosely(octets, start, end);
  }

  private static boolean isSpace(byte octet) {
    return octet <= ' ' || octet == 0x7f; // octets from 0x80 on are negative
  }
}
