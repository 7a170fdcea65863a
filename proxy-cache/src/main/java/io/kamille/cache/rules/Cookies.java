package io.kamille.cache.rules;

import io.kamille.cache.key.NamePatterns;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;

/** Reads {@code Cookie} fields (RFC 6265 §4.2) no further than names. Stateless; any thread. */
public final class Cookies {

  /*
   * Origins differ in how they read cookies, so names are compared loosely: what is in no token
   * separates as a semicolon does, a cookie without an equals sign is all name, letters of either
   * case are the same, octets that some language takes for white space are trimmed (Python trims
   * U+00A0), names are decoded, and what PHP turns into an underscore is one. To find a cookie too
   * many costs a hit, to overlook one shares what is private.
   */

  /** A server may read no more cookies than some number; the least we know of is 200 (Tomcat). */
  private static final int LIMIT = 100;

  private Cookies() {}

  /** Whether some server could find a cookie of such a name in the request. Makes no garbage. */
  public static boolean has(Fields request, NamePatterns names) {
    if (names.isEmpty()) {
      return false;
    }
    byte[] octets = request.octets();
    for (int i = request.indexOf(FieldName.COOKIE);
        i >= 0;
        i = request.indexOf(FieldName.COOKIE, i + 1)) {
      int end = request.valueEnd(i);
      for (int at = request.valueStart(i); at < end; at = nextName(octets, at, end)) {
        if (canBe(octets, at, end, names.patterns())) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean canBe(byte[] octets, int at, int end, List<String> patterns) {
    for (int i = 0; i < patterns.size(); i++) {
      if (canBe(octets, at, end, patterns.get(i))) {
        return true;
      }
    }
    return false;
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
      for (int at = start; at < end; at = nextName(octets, at, end)) {
        if (canBe(octets, at, end, name)) {
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

  // Names, as loosely as any server reads them

  /**
   * Where some server could take a name to begin, behind one such place. Old PHP decodes names, and
   * then trims them.
   */
  private static int nextName(byte[] octets, int at, int end) {
    if (octets[at] == '+') {
      return at + 1;
    }
    if (octets[at] == '%' && Octets.escaped(octets, at, end) >= 0) {
      return at + 3;
    }
    int next = at;
    while (next < end && (Octets.tokenLower(octets[next]) != 0 || octets[next] == '=')) {
      next++;
    }
    return next + 1;
  }

  /**
   * Whether some server could take what begins there for that name, or for one that begins so if it
   * has a star at its end. {@code name[x]} is it, too: PHP makes an array of it.
   */
  private static boolean canBe(byte[] octets, int start, int end, String name) {
    int at = start;
    for (int i = 0; i < name.length(); i++) {
      if (name.charAt(i) == '*' && i == name.length() - 1) {
        return true;
      }
      byte wanted = loose((byte) name.charAt(i));
      if (at < end && loose(octets[at]) == wanted) {
        at++;
      } else if (at < end
          && octets[at] == '%'
          && loose((byte) Octets.escaped(octets, at, end)) == wanted) {
        at += 3;
      } else {
        return false;
      }
    }
    return at == end || isSpace(octets[at]) || "=;,[%+".indexOf(octets[at]) >= 0;
  }

  /** In lower case; what PHP turns into an underscore in names is one. */
  private static byte loose(byte octet) {
    return switch (octet) {
      case '.', ' ', '[', '+' -> '_';
      default -> Octets.lower(octet);
    };
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
