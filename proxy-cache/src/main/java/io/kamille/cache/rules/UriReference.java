package io.kamille.cache.rules;

import java.util.regex.Pattern;

/** Resolves URI references (RFC 3986 §5.2) as field values have them. Stateless; any thread. */
final class UriReference {

  private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*+:");

  private UriReference() {}

  /**
   * The absolute URI that {@code reference} stands for, without its fragment. Any text gives some
   * result; whether that is a URI is for the reader of it to say.
   *
   * @param origin scheme and authority of the base, {@code http://example.org}
   * @param pathAndQuery path and query of the base, beginning with a slash
   */
  static String resolve(String origin, String pathAndQuery, String reference) {
    String text = upTo(reference, '#');
    if (SCHEME.matcher(text).lookingAt()) {
      int path = endOfAuthority(text, text.indexOf("://") + 3);
      return text.substring(0, path) + withoutDots(text.substring(path));
    }
    if (text.startsWith("//")) {
      int path = endOfAuthority(text, 2);
      String scheme = origin.substring(0, origin.indexOf(':') + 1);
      return scheme + text.substring(0, path) + withoutDots(text.substring(path));
    }
    if (text.isEmpty()) {
      return origin + pathAndQuery;
    }
    if (text.startsWith("/")) {
      return origin + withoutDots(text);
    }
    String basePath = upTo(pathAndQuery, '?');
    return text.startsWith("?")
        ? origin + basePath + text
        : origin + withoutDots(basePath.substring(0, basePath.lastIndexOf('/') + 1) + text);
  }

  private static int endOfAuthority(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) != '/' && text.charAt(at) != '?') {
      at++;
    }
    return at;
  }

  private static String upTo(String text, char mark) {
    int at = text.indexOf(mark);
    return at < 0 ? text : text.substring(0, at);
  }

  /** Path and query with the path's dot segments removed (RFC 3986 §5.2.4). */
  private static String withoutDots(String pathAndQuery) {
    String path = upTo(pathAndQuery, '?');
    StringBuilder out = new StringBuilder(pathAndQuery.length());
    int at = 0;
    while (at < path.length()) {
      int slash = path.indexOf('/', at + 1);
      int end = slash < 0 ? path.length() : slash;
      String segment = path.substring(at, end);
      boolean isUp = segment.equals("/..");
      if (isUp) {
        out.setLength(Math.max(0, out.lastIndexOf("/")));
      }
      if (!isUp && !segment.equals("/.")) {
        out.append(segment);
      } else if (slash < 0) {
        out.append('/');
      }
      at = end;
    }
    return out.append(pathAndQuery, path.length(), pathAndQuery.length()).toString();
  }
}
