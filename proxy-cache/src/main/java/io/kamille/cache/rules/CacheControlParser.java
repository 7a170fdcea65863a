package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

import io.kamille.cache.rules.CacheControl.Directives;
import io.kamille.core.http.Octets;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code Cache-Control} lines octet by octet (RFC 9111 §5.2). For one thread and one use. */
final class CacheControlParser {

  /*
   * A line is a list of `token [ "=" ( token | quoted-string ) ]`. The reading rules:
   *
   * - A directive is proper when commas, or the ends of the line, enclose it with nothing but white
   *   space between. In `private; max-age=9` neither is. Directives that forbid count even when
   *   improper; those that permit do not.
   * - A delta is decimal digits, as a token or in quotes, saturated at the greatest int (§1.2.2). One
   *   that is missing, improper or anything else means "already stale" for max-age and s-maxage
   *   (§4.2.1), "as fresh as can be" for min-fresh, and nothing for those that extend use.
   * - A delta given twice counts once when both agree. Otherwise the response is stale, which §4.2.1
   *   allows; a request gets the stricter of the two.
   * - no-cache and private with a quoted list of field names concern these fields. With any other
   *   argument they are taken as if they had none, which §5.2.2.4 and §5.2.2.7 allow.
   * - A quoted string without an end might hide anything: no-store and no-cache are assumed.
   */
  private static final int INVALID = -2;

  private final Directives found = new Directives();
  private byte[] octets = {};
  private int at;
  private int end;

  /* The directive at hand; an argument of -1 means there is none. */
  private int nameStart;
  private int nameEnd;
  private int argumentStart;
  private int argumentEnd;
  private boolean isQuoted;
  private boolean isProper;

  /** Takes in the directives of one line. Borrows the octets until it returns. */
  void line(byte[] octets, int start, int end) {
    this.octets = octets;
    this.at = start;
    this.end = end;
    boolean afterComma = true;
    while (at < end) {
      byte octet = octets[at];
      if (octet == ',') {
        afterComma = true;
        at++;
      } else if (Octets.tokenLower(octet) != 0) {
        readDirective(afterComma);
        take();
        afterComma = false;
      } else if (octet == '"') {
        readQuoted();
        afterComma = false;
      } else {
        afterComma &= Octets.isBlank(octet);
        at++;
      }
    }
  }

  CacheControl finish() {
    return new CacheControl(found);
  }

  private void readDirective(boolean afterComma) {
    nameStart = at;
    skipToken();
    nameEnd = at;
    argumentStart = -1;
    argumentEnd = -1;
    isQuoted = false;
    if (at < end && octets[at] == '=') {
      at++;
      readArgument();
    }
    isProper = afterComma && isEndOfElement();
  }

  private void readArgument() {
    argumentStart = at;
    if (at < end && octets[at] == '"') {
      isQuoted = true;
      argumentStart++;
      argumentEnd = readQuoted();
    } else {
      skipToken();
      argumentEnd = at;
    }
  }

  /** Moves behind the quoted string that begins here; answers where its closing quote stands. */
  private int readQuoted() {
    at++;
    while (at < end && octets[at] != '"') {
      at += octets[at] == '\\' ? 2 : 1;
    }
    if (at >= end) {
      found.add(Directive.NO_STORE);
      found.add(Directive.NO_CACHE);
      at = end;
      return end;
    }
    return at++;
  }

  private void skipToken() {
    while (at < end && Octets.tokenLower(octets[at]) != 0) {
      at++;
    }
  }

  private boolean isEndOfElement() {
    int next = Octets.skipBlanks(octets, at, end);
    return next == end || octets[next] == ',';
  }

  private void take() {
    Directive directive =
        Directive.find(token -> Octets.equalsIgnoreCase(octets, nameStart, nameEnd, token));
    if (directive == null) {
      return;
    }
    boolean isAlone = isProper && argumentStart < 0;
    int[] seconds = found.seconds;
    int place = directive.ordinal();
    switch (directive.kind()) {
      case LIFETIME -> seconds[place] = lifetime(seconds[place], delta());
      case EXTENSION -> seconds[place] = extension(seconds[place], delta());
      case ANY_EXTENSION ->
          seconds[place] = extension(seconds[place], isAlone ? Integer.MAX_VALUE : delta());
      case DEMAND ->
          seconds[place] =
              Math.max(seconds[place], delta() == INVALID ? Integer.MAX_VALUE : delta());
      case FORBIDS -> found.add(directive);
      case PERMITS -> {
        if (isAlone) {
          found.add(directive);
        }
      }
      case LISTS -> list(directive);
    }
  }

  private static int lifetime(int before, int delta) {
    return delta == INVALID || (before != ABSENT && before != delta) ? 0 : delta;
  }

  private static int extension(int before, int delta) {
    if (delta == INVALID) {
      return 0;
    }
    return before == ABSENT ? delta : Math.min(before, delta);
  }

  private int delta() {
    if (!isProper || argumentStart < 0 || argumentStart >= argumentEnd) {
      return INVALID;
    }
    long seconds = 0;
    for (int i = argumentStart; i < argumentEnd; i++) {
      if (!Octets.isDigit(octets[i])) {
        return INVALID;
      }
      seconds = Math.min(seconds * 10 + (octets[i] - '0'), Integer.MAX_VALUE);
    }
    return (int) seconds;
  }

  /** The fields this directive and those before it list, unless it lists none and is for all. */
  private void list(Directive directive) {
    List<String> names = new ArrayList<>(found.fields(directive));
    boolean isList =
        isQuoted
            && isProper
            && Directives.readNames(Octets.text(octets, argumentStart, argumentEnd), names);
    if (isList) {
      found.name(directive, names);
    } else {
      found.add(directive);
    }
  }
}
