package io.kamille.core.http;

import java.util.List;

/**
 * The value of one member of a structured field (RFC 9651 §3). Immutable; any thread.
 *
 * @param number of an integer or a date; 1 or 0 for a boolean; else 0
 * @param text of a string or a token; else empty
 * @param members of an inner list, without their parameters; else empty
 */
public record StructuredValue(Kind kind, long number, String text, List<StructuredValue> members) {

  /** The types of RFC 9651 §3.3, and inner lists (§3.1.1). */
  public enum Kind {
    BOOLEAN,
    INTEGER,
    DECIMAL,
    STRING,
    TOKEN,
    BYTE_SEQUENCE,
    DATE,
    DISPLAY_STRING,
    INNER_LIST
  }

  /** What a key without a value means. */
  static final StructuredValue TRUE = new StructuredValue(Kind.BOOLEAN, 1, "");

  static final StructuredValue FALSE = new StructuredValue(Kind.BOOLEAN, 0, "");

  StructuredValue(Kind kind, long number, String text) {
    this(kind, number, text, List.of());
  }

  public StructuredValue {
    members = List.copyOf(members);
  }

  static StructuredValue of(Kind kind) {
    return new StructuredValue(kind, 0, "");
  }

  public boolean isTrue() {
    return kind == Kind.BOOLEAN && number == 1;
  }

  public boolean isFalse() {
    return kind == Kind.BOOLEAN && number == 0;
  }
}
