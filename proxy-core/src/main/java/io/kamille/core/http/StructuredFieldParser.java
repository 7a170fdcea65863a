package io.kamille.core.http;

import io.kamille.core.http.StructuredValue.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses structured fields (RFC 9651 §4.2). For one thread and one use. */
final class StructuredFieldParser {

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

  StructuredFieldParser(String text) {
    this.text = text;
  }

  /** §4.2, §4.2.2: a dictionary and nothing else; null if it is none. */
  @Nullable StructuredDictionary dictionary() {
    Map<String, StructuredValue> members = new LinkedHashMap<>();
    skipSpaces();
    while (at < text.length()) {
      members.put(key(), memberValue());
      skipWhiteSpace();
      if (at < text.length()) {
        require(take(','));
        skipWhiteSpace();
        require(at < text.length());
      }
    }
    return isBroken ? null : new StructuredDictionary(Collections.unmodifiableMap(members));
  }

  /** §4.2, §4.2.1: a list and nothing else; null if it is none. */
  @Nullable List<StructuredValue> list() {
    List<StructuredValue> members = new ArrayList<>();
    skipSpaces();
    while (at < text.length()) {
      members.add(peek() == '(' ? innerList() : bareItem());
      parameters();
      skipWhiteSpace();
      if (at < text.length()) {
        require(take(','));
        skipWhiteSpace();
        require(at < text.length());
      }
    }
    return isBroken ? null : members;
  }

  private StructuredValue memberValue() {
    StructuredValue value = StructuredValue.TRUE;
    if (take('=')) {
      value = peek() == '(' ? innerList() : bareItem();
    }
    parameters();
    return value;
  }

  /** §4.2.1.2, without what follows the parenthesis. */
  private StructuredValue innerList() {
    List<StructuredValue> members = new ArrayList<>();
    at++;
    while (at < text.length()) {
      skipSpaces();
      if (take(')')) {
        return new StructuredValue(Kind.INNER_LIST, 0, "", members);
      }
      members.add(bareItem());
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
  private StructuredValue bareItem() {
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
  private StructuredValue number() {
    boolean isNegative = take('-');
    int digits = 0;
    long number = 0;
    for (; isDigit(peek()); at++, digits++) {
      require(digits < INTEGER_DIGITS);
      number = number * 10 + (peek() - '0');
    }
    require(digits > 0);
    if (!take('.')) {
      return new StructuredValue(Kind.INTEGER, isNegative ? -number : number, "");
    }
    require(digits <= DECIMAL_INTEGER_DIGITS);
    int fraction = 0;
    for (; isDigit(peek()); at++) {
      fraction++;
    }
    require(fraction > 0 && fraction <= FRACTION_DIGITS);
    return StructuredValue.of(Kind.DECIMAL);
  }

  /** §4.2.5. */
  private StructuredValue string() {
    StringBuilder content = new StringBuilder();
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return new StructuredValue(Kind.STRING, 0, content.toString());
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
  private StructuredValue token() {
    int start = at;
    while (at < text.length()
        && (Octets.isToken(String.valueOf(peek())) || peek() == ':' || peek() == '/')) {
      at++;
    }
    return new StructuredValue(Kind.TOKEN, 0, text.substring(start, at));
  }

  /** §4.2.7; padding and spare bits are not looked at, as that section recommends. */
  private StructuredValue byteSequence() {
    at++;
    while (isAlpha(peek()) || isDigit(peek()) || isOneOf("+/=")) {
      at++;
    }
    require(take(':'));
    return StructuredValue.of(Kind.BYTE_SEQUENCE);
  }

  /** §4.2.8. */
  private StructuredValue bool() {
    at++;
    if (take('1')) {
      return StructuredValue.TRUE;
    }
    require(take('0'));
    return StructuredValue.FALSE;
  }

  /** §4.2.9. */
  private StructuredValue date() {
    at++;
    StructuredValue number = number();
    require(number.kind() == Kind.INTEGER);
    return new StructuredValue(Kind.DATE, number.number(), "");
  }

  /** §4.2.10. */
  private StructuredValue displayString() {
    at++;
    require(take('"'));
    ByteBuffer octets = ByteBuffer.allocate(text.length());
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        require(isUtf8(octets.flip()));
        return StructuredValue.of(Kind.DISPLAY_STRING);
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

  private StructuredValue fail() {
    isBroken = true;
    at = text.length();
    return StructuredValue.of(Kind.TOKEN);
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
