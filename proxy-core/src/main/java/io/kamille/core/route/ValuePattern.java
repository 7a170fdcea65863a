package io.kamille.core.route;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;

/**
 * What a value under a name must be. Immutable; any thread.
 *
 * @param value a text that it equals, one with a {@code *} at its end for all that begin so, {@code
 *     present} for any, {@code absent} for none
 */
public record ValuePattern(String value) {

  private static final int LONGEST = 1_024;
  private static final String PRESENT = "present";
  private static final String ABSENT = "absent";

  private static final Setting<String> VALUE =
      Setting.of(
          "value",
          ValueTypes.text(
              "text, prefix, `present` or `absent`",
              "a text, one with a * at its end for all that begin so, present or absent",
              ValuePattern::isValue),
          "The value: a text that it equals, `\"abc*\"` for all that begin so, `present` for any,"
              + " `absent` for none.");

  private static final Section<ValuePattern> SECTION = Section.of(ValuePattern.class, VALUE);

  /** Patterns under names. */
  public static Subsection<ValuePattern> named(String key, String description) {
    return SECTION.named(key, description).withShorthand(VALUE);
  }

  /** Whether a text can be a pattern. */
  public static boolean isValue(String text) {
    return text.length() <= LONGEST && text.chars().allMatch(c -> c >= ' ' && c <= '~');
  }

  boolean isAbsent() {
    return value.equals(ABSENT);
  }

  /**
   * Whether a value that is there is one of those. Upper and lower case differ.
   *
   * @param isEncoded whether its octets are percent-encoded, as a form writes them
   */
  boolean takes(byte[] octets, int start, int end, boolean isEncoded) {
    if (value.equals(PRESENT) || isAbsent()) {
      return !isAbsent();
    }
    boolean isPrefix = value.endsWith("*");
    int compared = isPrefix ? value.length() - 1 : value.length();
    return begins(octets, start, end, isEncoded, value, compared, isPrefix);
  }

  /** Whether octets are a text, as they came or decoded. */
  static boolean spells(byte[] octets, int start, int end, boolean isEncoded, String text) {
    return begins(octets, start, end, isEncoded, text, text.length(), false);
  }

  private static boolean begins(
      byte[] octets,
      int start,
      int end,
      boolean isEncoded,
      String text,
      int length,
      boolean isPrefix) {
    int at = start;
    int compared = 0;
    while (at < end && compared < length) {
      int escaped = isEncoded && octets[at] == '%' ? Octets.escaped(octets, at, end) : -1;
      int plain = isEncoded && octets[at] == '+' ? ' ' : octets[at] & 0xff;
      if ((escaped >= 0 ? escaped : plain) != text.charAt(compared++)) {
        return false;
      }
      at += escaped >= 0 ? 3 : 1;
    }
    return compared == length && (isPrefix || at == end);
  }

  /** Whether a line of that field is one of those, or none is there and should not be. */
  public boolean takes(Fields fields, String name) {
    boolean isThere = false;
    for (int i = 0; i < fields.size(); i++) {
      if (fields.nameIs(i, name)) {
        isThere = true;
        if (takes(fields.octets(), fields.valueStart(i), fields.valueEnd(i), false)) {
          return true;
        }
      }
    }
    return !isThere && isAbsent();
  }
}
