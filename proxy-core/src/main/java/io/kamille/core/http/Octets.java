package io.kamille.core.http;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Octet classes of RFC 9110 §5.6.2 and comparisons on raw octets. Stateless; any thread. */
public final class Octets {

  /** For each octet: its lower-case form when it may stand in a token, else zero (§5.6.2). */
  private static final byte[] TOKEN = tokenTable();

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int MOST_DIGITS = 18;
  private static final int NONE = -1;

  private Octets() {}

  private static byte[] tokenTable() {
    byte[] table = new byte[256];
    for (char c = 'a'; c <= 'z'; c++) {
      table[c] = (byte) c;
      table[c - 32] = (byte) c;
    }
    for (char c = '0'; c <= '9'; c++) {
      table[c] = (byte) c;
    }
    for (char c : "!#$%&'*+-.^_`|~".toCharArray()) {
      table[c] = (byte) c;
    }
    return table;
  }

  /** The lower-case form of {@code octet} if it may stand in a token, else 0. */
  public static byte tokenLower(byte octet) {
    return TOKEN[octet & 0xff];
  }

  /** Whether {@code text} is a token: not empty, token octets only. */
  public static boolean isToken(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c > 0x7f || TOKEN[c] == 0) {
        return false;
      }
    }
    return !text.isEmpty();
  }

  /** The eight octets from {@code offset} on, the first in the lowest place. */
  public static long word(byte[] octets, int offset) {
    return (long) WORD.get(octets, offset);
  }

  /** ASCII lower case; other octets unchanged. */
  public static byte lower(byte octet) {
    return octet >= 'A' && octet <= 'Z' ? (byte) (octet + 32) : octet;
  }

  public static boolean isDigit(byte octet) {
    return octet >= '0' && octet <= '9';
  }

  public static boolean isBlank(byte octet) {
    return octet == ' ' || octet == '\t';
  }

  /** Where the first octet that is no blank stands in {@code [start, end)}, or the end. */
  public static int skipBlanks(byte[] octets, int start, int end) {
    int at = start;
    while (at < end && isBlank(octets[at])) {
      at++;
    }
    return at;
  }

  /** Where the blanks at the end of {@code [start, end)} begin. */
  public static int trimmedEnd(byte[] octets, int start, int end) {
    int at = end;
    while (at > start && isBlank(octets[at - 1])) {
      at--;
    }
    return at;
  }

  /** Where the first such octet stands in {@code [start, end)}, or the end. */
  public static int indexOf(byte[] octets, int start, int end, char octet) {
    int at = start;
    while (at < end && octets[at] != octet) {
      at++;
    }
    return at;
  }

  /** The number that the octets in {@code [start, end)} are: 1 to 18 digits; -1 for others. */
  public static long decimal(byte[] octets, int start, int end) {
    if (start >= end || end - start > MOST_DIGITS) {
      return NONE;
    }
    long number = 0;
    for (int i = start; i < end; i++) {
      if (!isDigit(octets[i])) {
        return NONE;
      }
      number = number * 10 + (octets[i] - '0');
    }
    return number;
  }

  /** The octet that the percent sign there and what follows stand for; -1 if for none. */
  public static int escaped(byte[] octets, int at, int end) {
    if (at + 2 >= end) {
      return NONE;
    }
    int high = Character.digit(octets[at + 1], 16);
    int low = Character.digit(octets[at + 2], 16);
    return high < 0 || low < 0 ? NONE : high << 4 | low;
  }

  /** Whether the octets in {@code [start, end)} are {@code text}, ignoring ASCII case. */
  public static boolean equalsIgnoreCase(byte[] octets, int start, int end, String text) {
    if (end - start != text.length()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (lower(octets[start + i]) != lower((byte) text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /** Whether the octets in {@code [start, end)} are {@code text}. */
  public static boolean equals(byte[] octets, int start, int end, String text) {
    if (end - start != text.length()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if ((octets[start + i] & 0xff) != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** The octets as text, one character each (ISO 8859-1), so that nothing is lost. */
  public static String text(byte[] octets, int start, int end) {
    return new String(octets, start, end - start, StandardCharsets.ISO_8859_1);
  }
}
