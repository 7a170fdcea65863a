package io.kamille.core.route;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueType;
import org.jspecify.annotations.Nullable;

/**
 * What a value must be: some text, what begins with some text, anything, or not there. Immutable;
 * any thread.
 *
 * @param text what it is, or begins with; empty where any value will do or none
 */
public record ValuePattern(Kind kind, String text) {

  /** How a value is compared. Upper and lower case differ. */
  public enum Kind {
    EXACT,
    PREFIX,
    PRESENT,
    ABSENT
  }

  private static final int LONGEST = 1_024;

  /** A pattern under the name of a field, a cookie or a parameter. */
  public record Named(ValuePattern value) {

    private static final Setting<ValuePattern> VALUE =
        Setting.of(
            "value",
            new ValueType<>(
                "text, prefix, `present` or `absent`",
                "",
                "a text, one with a * at its end for all that begin so, present or absent",
                ValuePattern::parse,
                ValuePattern::toString),
            "The value: a text that it equals, `\"abc*\"` for all that begin so, `present` for any,"
                + " `absent` for none.");

    private static final Section<Named> SECTION = Section.of(Named.class, VALUE);
  }

  /** Patterns under names. */
  public static Subsection<Named> named(String key, String description) {
    return Named.SECTION.named(key, description).withShorthand(Named.VALUE);
  }

  /** The pattern that stands for such values; null if it can be none. */
  public static @Nullable ValuePattern parse(String text) {
    if (text.length() > LONGEST || !text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      return null;
    }
    if (text.equals("present") || text.equals("*")) {
      return new ValuePattern(Kind.PRESENT, "");
    }
    if (text.equals("absent")) {
      return new ValuePattern(Kind.ABSENT, "");
    }
    return text.endsWith("*")
        ? new ValuePattern(Kind.PREFIX, text.substring(0, text.length() - 1))
        : new ValuePattern(Kind.EXACT, text);
  }

  /** Whether a value that is there is one of those. */
  public boolean takes(byte[] octets, int start, int end) {
    int length = end - start;
    return switch (kind) {
      case PRESENT -> true;
      case ABSENT -> false;
      case EXACT -> length == text.length() && beginsAt(octets, start);
      case PREFIX -> length >= text.length() && beginsAt(octets, start);
    };
  }

  /** The same for octets that are percent-encoded, as a form writes them. */
  boolean takesDecoded(byte[] octets, int start, int end) {
    if (kind == Kind.PRESENT || kind == Kind.ABSENT) {
      return kind == Kind.PRESENT;
    }
    int at = start;
    int compared = 0;
    while (at < end && compared < text.length()) {
      int escaped = octets[at] == '%' ? Octets.escaped(octets, at, end) : -1;
      int octet = escaped >= 0 ? escaped : octets[at] == '+' ? ' ' : octets[at] & 0xff;
      if (octet != text.charAt(compared++)) {
        return false;
      }
      at += escaped >= 0 ? 3 : 1;
    }
    return compared == text.length() && (kind == Kind.PREFIX || at == end);
  }

  /** Whether no value is one of both. */
  boolean excludes(ValuePattern other) {
    return switch (kind) {
      case ABSENT -> other.kind != Kind.ABSENT;
      case PRESENT -> other.kind == Kind.ABSENT;
      case EXACT ->
          switch (other.kind) {
            case EXACT -> !text.equals(other.text);
            case PREFIX -> !text.startsWith(other.text);
            case PRESENT -> false;
            case ABSENT -> true;
          };
      case PREFIX ->
          other.kind == Kind.PREFIX
              ? !text.startsWith(other.text) && !other.text.startsWith(text)
              : other.excludes(this);
    };
  }

  private boolean beginsAt(byte[] octets, int start) {
    for (int i = 0; i < text.length(); i++) {
      if (octets[start + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Whether a line of that field is one of those, or none is there and should not be. */
  public boolean takes(Fields fields, String name) {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.nameIs(i, name)) {
        if (kind == Kind.ABSENT) {
          return false;
        }
        if (takes(fields.octets(), fields.valueStart(i), fields.valueEnd(i))) {
          return true;
        }
      }
    }
    return kind == Kind.ABSENT;
  }

  @Override
  public String toString() {
    return switch (kind) {
      case EXACT -> text;
      case PREFIX -> text + "*";
      case PRESENT -> "present";
      case ABSENT -> "absent";
    };
  }
}
