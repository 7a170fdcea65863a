package io.kamille.core.http;

import io.kamille.core.http.StructuredFields.Value.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Structured fields (RFC 9651): dictionaries and lists. Parameters are checked and forgotten, and
 * so are the members of inner lists: nothing that we read has any.
 */
public final class StructuredFields {

  /*
   * The algorithms of §4.2, one method each and in their order. A step that fails sets `isBroken`
   * and moves to the end, so that every loop ends; what it returns is then of no use.
   */
  private static final int INTEGER_DIGITS = 15;
  private static final int DECIMAL_INTEGER_DIGITS = 12;
  private static final int FRACTION_DIGITS = 3;
  private static final char END = '\0';

  private final String text;
  private int at;
  private boolean isBroken;

  private StructuredFields(List<String> lines) {
    this.text = String.join(", ", lines);
  }

  /**
   * The value of one member (§3). Immutable; any thread.
   *
   * @param number of an integer or a date; 1 or 0 for a boolean; else 0
   * @param text of a string or a token; else empty
   */
  public record Value(Kind kind, long number, String text) {

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
    static final Value TRUE = new Value(Kind.BOOLEAN, 1, "");

    static final Value FALSE = new Value(Kind.BOOLEAN, 0, "");

    static Value of(Kind kind) {
      return new Value(kind, 0, "");
    }

    public boolean isTrue() {
      return equals(TRUE);
    }

    public boolean isFalse() {
      return equals(FALSE);
    }
  }

  /**
   * The dictionary that the lines of one field make up (§3.2), in the order of its keys; null if
   * they are none: then the whole field is to be ignored (§4.2). No line and an empty value are an
   * empty dictionary. Of a key that was given twice, the last value counts.
   */
  public static @Nullable Map<String, Value> dictionary(List<String> lines) {
    Map<String, Value> members = new LinkedHashMap<>();
    var parser = new StructuredFields(lines);
    parser.eachMember(() -> members.put(parser.key(), parser.memberValue()));
    return parser.isBroken ? null : Collections.unmodifiableMap(members);
  }

  /** The members of the list that the lines of one field make up (§3.1), or null as above. */
  public static @Nullable List<Value> list(List<String> lines) {
    List<Value> members = new ArrayList<>();
    var parser = new StructuredFields(lines);
    parser.eachMember(() -> members.add(parser.item()));
    return parser.isBroken ? null : members;
  }

  /**
   * The texts of a list that has strings and nothing else, as fields are defined whose members are
   * names; null if it is another.
   */
  public static @Nullable List<String> strings(List<String> lines) {
    List<Value> members = list(lines);
    if (members == null
        || members.stream().anyMatch(member -> member.kind() != Value.Kind.STRING)) {
      return null;
    }
    return members.stream().map(Value::text).toList();
  }

  /** §4.2, §4.2.1, §4.2.2: members and nothing else. */
  private void eachMember(Runnable member) {
    skipSpaces();
    while (at < text.length()) {
      member.run();
      skipWhiteSpace();
      if (at < text.length()) {
        require(take(','));
        skipWhiteSpace();
        require(at < text.length());
      }
    }
  }

  private Value memberValue() {
    if (take('=')) {
      return item();
    }
    parameters();
    return Value.TRUE;
  }

  private Value item() {
    Value value = peek() == '(' ? innerList() : bareItem();
    parameters();
    return value;
  }

  /** §4.2.1.2, without what follows the parenthesis. */
  private Value innerList() {
    at++;
    while (at < text.length()) {
      skipSpaces();
      if (take(')')) {
        return Value.of(Kind.INNER_LIST);
      }
      bareItem();
      parameters();
      require(peek() == ' ' || peek() == ')');
    }
    return fail();
  }

  /** §4.2.3.2. */
  private void parameters() {
    while (take(';')) {
      skipSpaces();
      key();
      if (take('=')) {
        bareItem();
      }
    }
  }

  /** §4.2.3.3. */
  private String key() {
    int start = at;
    require(isLowerAlpha(peek()) || peek() == '*');
    while (isLowerAlpha(peek()) || isDigit(peek()) || isOneOf("_-.*")) {
      at++;
    }
    return text.substring(Math.min(start, at), at);
  }

  /** §4.2.3.1. */
  private Value bareItem() {
    char first = peek();
    if (first == '-' || isDigit(first)) {
      return number();
    }
    if (isAlpha(first) || first == '*') {
      return token();
    }
    return switch (first) {
      case '"' -> string();
      case ':' -> byteSequence();
      case '?' -> bool();
      case '@' -> date();
      case '%' -> displayString();
      default -> fail();
    };
  }

  /** §4.2.4. */
  private Value number() {
    boolean isNegative = take('-');
    int digits = 0;
    long number = 0;
    for (; isDigit(peek()); at++, digits++) {
      require(digits < INTEGER_DIGITS);
      number = number * 10 + (peek() - '0');
    }
    require(digits > 0);
    if (!take('.')) {
      return new Value(Kind.INTEGER, isNegative ? -number : number, "");
    }
    require(digits <= DECIMAL_INTEGER_DIGITS);
    int fraction = 0;
    for (; isDigit(peek()); at++) {
      fraction++;
    }
    require(fraction > 0 && fraction <= FRACTION_DIGITS);
    return Value.of(Kind.DECIMAL);
  }

  /** §4.2.5. */
  private Value string() {
    StringBuilder content = new StringBuilder();
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return new Value(Kind.STRING, 0, content.toString());
      }
      if (c == '\\') {
        require(isOneOf("\"\\"));
        c = peek();
        at++;
      }
      require(c >= ' ' && c <= '~');
      content.append(c);
    }
    return fail();
  }

  /** §4.2.6. */
  private Value token() {
    int start = at;
    while (at < text.length()
        && (Octets.isToken(String.valueOf(peek())) || peek() == ':' || peek() == '/')) {
      at++;
    }
    return new Value(Kind.TOKEN, 0, text.substring(start, at));
  }

  /** §4.2.7; padding and spare bits are not looked at, as that section recommends. */
  private Value byteSequence() {
    at++;
    while (isAlpha(peek()) || isDigit(peek()) || isOneOf("+/=")) {
      at++;
    }
    require(take(':'));
    return Value.of(Kind.BYTE_SEQUENCE);
  }

  /** §4.2.8. */
  private Value bool() {
    at++;
    if (take('1')) {
      return Value.TRUE;
    }
    require(take('0'));
    return Value.FALSE;
  }

  /** §4.2.9. */
  private Value date() {
    at++;
    Value number = number();
    require(number.kind() == Kind.INTEGER);
    return new Value(Kind.DATE, number.number(), "");
  }

  /** §4.2.10. */
  private Value displayString() {
    at++;
    require(take('"'));
    ByteBuffer octets = ByteBuffer.allocate(text.length());
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        require(isUtf8(octets.flip()));
        return Value.of(Kind.DISPLAY_STRING);
      }
      require(c >= ' ' && c <= '~');
      octets.put(c == '%' ? (byte) (lowerHex() << 4 | lowerHex()) : (byte) c);
    }
    return fail();
  }

  private int lowerHex() {
    char c = peek();
    require(isDigit(c) || (c >= 'a' && c <= 'f'));
    at++;
    return Character.digit(c, 16);
  }

  private static boolean isUtf8(ByteBuffer octets) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(octets);
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  // Steps

  private char peek() {
    return at < text.length() ? text.charAt(at) : END;
  }

  private boolean take(char expected) {
    if (at < text.length() && text.charAt(at) == expected) {
      at++;
      return true;
    }
    return false;
  }

  private void require(boolean condition) {
    if (!condition) {
      fail();
    }
  }

  private Value fail() {
    isBroken = true;
    at = text.length();
    return Value.of(Kind.TOKEN);
  }

  private void skipSpaces() {
    while (peek() == ' ') {
      at++;
    }
  }

  private void skipWhiteSpace() {
    while (peek() == ' ' || peek() == '\t') {
      at++;
    }
  }

  private boolean isOneOf(String characters) {
    return at < text.length() && characters.indexOf(text.charAt(at)) >= 0;
  }

  private static boolean isLowerAlpha(char c) {
    return c >= 'a' && c <= 'z';
  }

  private static boolean isAlpha(char c) {
    return isLowerAlpha(c) || (c >= 'A' && c <= 'Z');
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
