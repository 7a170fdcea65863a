package io.kamille.cache.rules;

import io.kamille.cache.key.NamePatterns;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;

/** Reads {@code Cookie} fields (RFC 6265 §4.2) no further than names. Stateless; any thread. */
public final class Cookies {

  /*
   * Origins differ in how they read cookies, so names are compared loosely: a comma separates as a
   * semicolon does, a cookie without an equals sign is all name, letters of either case are the
   * same, octets that some language takes for white space are trimmed (Python trims U+00A0), and
   * what PHP turns into an underscore is one. To find a cookie too many costs a hit, to overlook
   * one shares what is private.
   */

  /** A server may read no more cookies than some number; the least we know of is 200 (Tomcat). */
  private static final int LIMIT = 100;

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

  // One cookie in a cache key

  /**
   * Whether servers could differ in what they read as the cookie of that name. They do not if its
   * name is there once, spelled exactly, where a cookie begins, in the one field. Makes no garbage.
   */
  static boolean areUnclear(Fields request, String name) {
    byte[] octets = request.octets();
    int first = request.indexOf(FieldName.COOKIE);
    boolean isFound = false;
    for (int i = first; i >= 0; i = request.indexOf(FieldName.COOKIE, i + 1)) {
      int start = request.valueStart(i);
      int end = request.valueEnd(i);
      for (int at = start; at < end; at++) {
        if (canBe(octets, at, end, name) && canBegin(octets, start, at)) {
          if (isFound || !isPlain(octets, start, at, end, name)) {
            return true;
          }
          isFound = true;
        }
      }
    }
    return isFound
        && (request.indexOf(FieldName.COOKIE, first + 1) >= 0
            || !isClear(octets, request.valueStart(first), request.valueEnd(first)));
  }

  private static boolean isPlain(byte[] octets, int start, int at, int end, String name) {
    int before = at > start && octets[at - 1] == ' ' ? at - 1 : at;
    int equals = at + name.length();
    return (at == start || (before > start && octets[before - 1] == ';'))
        && equals < end
        && octets[equals] == '='
        && Octets.equals(octets, at, equals, name)
        && !isSpace(octets[Octets.indexOf(octets, equals, end, ';') - 1]);
  }

  /** Whether some server could take what is there for the beginning of a cookie's name. */
  private static boolean canBegin(byte[] octets, int start, int at) {
    int before = at;
    int least = Math.max(start, at - 3 * LIMIT);
    while (before - 3 >= least && octets[before - 3] == '%') {
      before -= 3; // old PHP decodes names, and then trims them
    }
    return before == least
        || (Octets.tokenLower(octets[before - 1]) == 0 && octets[before - 1] != '=');
  }

  /**
   * Whether some server could take what begins there for the name of that cookie. {@code name[x]}
   * is it, too: PHP makes an array of it.
   */
  private static boolean canBe(byte[] octets, int start, int end, String name) {
    int at = start;
    for (int i = 0; i < name.length(); i++) {
      byte wanted = NamePatterns.loose((byte) name.charAt(i));
      if (at < end && NamePatterns.loose(octets[at]) == wanted) {
        at++;
      } else if (at < end
          && octets[at] == '%'
          && NamePatterns.loose((byte) Octets.escaped(octets, at, end)) == wanted) {
        at += 3;
      } else {
        return false;
      }
    }
    while (at < end && isSpace(octets[at])) {
      at++;
    }
    return at == end || "=;,[%".indexOf(octets[at]) >= 0;
  }

  /**
   * Whether servers that know quoted strings find the same semicolons as the others, and no server
   * stops before the last cookie.
   */
  private static boolean isClear(byte[] octets, int start, int end) {
    int cookies = 1;
    boolean isQuoted = false;
    boolean hasQuotes = false;
    boolean hasEscape = false;
    for (int at = start; at < end; at++) {
      switch (octets[at]) {
        case '"' -> {
          isQuoted = !isQuoted;
          hasQuotes = true;
        }
        case '\\' -> hasEscape = true;
        case ';' -> {
          if (isQuoted) {
            return false;
          }
          cookies++;
        }
        default -> {}
      }
    }
    return cookies <= LIMIT && !isQuoted && !(hasQuotes && hasEscape);
  }

  private static boolean isSpace(byte octet) {
    return octet <= ' ' || octet == 0x7f; // octets from 0x80 on are negative
  }
}
