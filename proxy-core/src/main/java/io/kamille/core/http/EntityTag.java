package io.kamille.core.http;

import org.jspecify.annotations.Nullable;

/**
 * Entity tags (RFC 9110 §8.8.3) as the text they came in: {@code "xyzzy"}, {@code W/"xyzzy"}.
 * Stateless; any thread.
 */
public final class EntityTag {

  private EntityTag() {}

  /** Whether {@code text} is one entity tag and nothing else. The {@code W} is case-sensitive. */
  public static boolean isValid(@Nullable String text) {
    if (text == null) {
      return false;
    }
    int start = opaqueStart(text);
    int last = text.length() - 1;
    if (last <= start || text.charAt(start) != '"' || text.charAt(last) != '"') {
      return false;
    }
    for (int i = start + 1; i < last; i++) {
      if (!isTagOctet(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /** Whether the tag is a weak validator (§8.8.1). */
  public static boolean isWeak(String tag) {
    return opaqueStart(tag) > 0;
  }

  /** Weak comparison (§8.8.3.2): the opaque tags are equal, weak or not. */
  public static boolean matchesWeakly(String one, String other) {
    int start = opaqueStart(one);
    int length = one.length() - start;
    int otherStart = opaqueStart(other);
    return length == other.length() - otherStart
        && one.regionMatches(start, other, otherStart, length);
  }

  /** Strong comparison (§8.8.3.2): the tags are equal and neither is weak. */
  public static boolean matchesStrongly(String one, String other) {
    return one.equals(other) && !isWeak(one);
  }

  /**
   * Whether the list of tags in {@code [start, end)}, as {@code If-None-Match} and {@code If-Match}
   * have it, holds one that matches {@code tag} weakly. What is no entity tag in the list is passed
   * over up to the next comma. Makes no garbage.
   */
  public static boolean listMatchesWeakly(byte[] octets, int start, int end, String tag) {
    int tagStart = opaqueStart(tag);
    int at = start;
    while (at < end) {
      byte octet = octets[at];
      if (octet == ' ' || octet == '\t' || octet == ',') {
        at++;
        continue;
      }
      int opaque = at + 1 < end && octet == 'W' && octets[at + 1] == '/' ? at + 2 : at;
      int close = closingQuote(octets, opaque, end);
      if (close > 0
          && isEndOfMember(octets, close + 1, end)
          && equals(octets, opaque, close + 1, tag, tagStart)) {
        return true;
      }
      at = Octets.indexOf(octets, close > 0 ? close + 1 : at, end, ',');
    }
    return false;
  }

  /**
   * Whether {@code If-None-Match} of a request names this tag, by weak comparison, or any by the
   * star (§13.1.2).
   *
   * @param tag null for a representation without one
   */
  public static boolean isKnown(Fields request, @Nullable String tag) {
    for (int i = request.indexOf(FieldName.IF_NONE_MATCH);
        i >= 0;
        i = request.indexOf(FieldName.IF_NONE_MATCH, i + 1)) {
      byte[] octets = request.octets();
      int start = request.valueStart(i);
      int end = request.valueEnd(i);
      if (Octets.equalsIgnoreCase(octets, start, end, "*")
          || (tag != null && listMatchesWeakly(octets, start, end, tag))) {
        return true;
      }
    }
    return false;
  }

  private static int opaqueStart(String tag) {
    return tag.startsWith("W/") ? 2 : 0;
  }

  /** Where the opaque tag that begins at {@code start} is closed, or -1. */
  private static int closingQuote(byte[] octets, int start, int end) {
    if (start >= end || octets[start] != '"') {
      return -1;
    }
    for (int i = start + 1; i < end; i++) {
      if (octets[i] == '"') {
        return i;
      }
      if (!isTagOctet((char) (octets[i] & 0xff))) {
        return -1;
      }
    }
    return -1;
  }

  private static boolean isEndOfMember(byte[] octets, int from, int end) {
    int at = Octets.skipBlanks(octets, from, end);
    return at == end || octets[at] == ',';
  }

  private static boolean equals(byte[] octets, int start, int end, String tag, int tagStart) {
    if (end - start != tag.length() - tagStart) {
      return false;
    }
    for (int i = start; i < end; i++) {
      if ((octets[i] & 0xff) != tag.charAt(tagStart + i - start)) {
        return false;
      }
    }
    return true;
  }

  /** etagc: visible ASCII without the quote, or obs-text. */
  private static boolean isTagOctet(char octet) {
    return octet == 0x21 || (octet >= 0x23 && octet <= 0x7e) || (octet >= 0x80 && octet <= 0xff);
  }
}
