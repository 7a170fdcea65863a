package io.kamille.core.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Structured fields (RFC 9651): dictionaries and lists. Parameters are checked and forgotten, and
 * so are the members of inner lists: nothing that we read has any. Stateless; any thread.
 *
 * <p>The value of a member is a {@link Boolean}, a {@link Long} for an integer, a {@link String}
 * for a string, and {@link #OTHER} for all that we read of none.
 */
public final class StructuredFields {

  /** A decimal, a token, a byte sequence, a date, a display string or an inner list. */
  public static final Object OTHER = new Object();

  /*
   * The grammar of §3, by its names. Every loop is possessive: it takes its way through the text
   * once, and no stack. Padding and spare bits of byte sequences are not looked at, as §4.2.7
   * recommends. Display strings are UTF-8 (RFC 3629 §4), with an escape for each octet of more than
   * seven bits.
   */
  private static final String TAIL = "%[89ab][0-9a-f]";

  private static final String UTF_8 =
      "%[0-7][0-9a-f]|%(?:c[2-9a-f]|d[0-9a-f])T|%e0%[ab][0-9a-f]T|%e[1-9a-cef]TT|%ed%[89][0-9a-f]T"
          + "|%f0%[9ab][0-9a-f]TT|%f[1-3]TTT|%f4%8[0-9a-f]TT";

  private static final String BARE_ITEM =
      "(?:-?[0-9]{1,12}\\.[0-9]{1,3}+(?![0-9])"
          + "|@?-?[0-9]{1,15}+(?![0-9.])"
          + "|\"(?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*+\""
          + "|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*+"
          + "|:[A-Za-z0-9+/=]*+:"
          + "|\\?[01]"
          + ("|%\"(?:[ !#$&-~]|" + UTF_8.replace("T", TAIL) + ")*+\")");

  private static final String KEY = "[a-z*][a-z0-9_.*-]*+";
  private static final String PARAMETERS = "(?:; *+" + KEY + "(?:=" + BARE_ITEM + ")?+)*+";
  private static final String INNER_LIST =
      "\\( *+(?:" + BARE_ITEM + PARAMETERS + "(?: ++|(?=\\))))*+\\)";

  private static final String ITEM = "(?<item>" + BARE_ITEM + "|" + INNER_LIST + ")";
  private static final String END = PARAMETERS + "[ \\t]*+(?:,[ \\t]*+(?!\\z)|\\z)";
  private static final Pattern LIST = Pattern.compile("\\G" + ITEM + END);
  private static final Pattern DICTIONARY =
      Pattern.compile("\\G(?<key>" + KEY + ")(?:=" + ITEM + ")?+" + END);

  private StructuredFields() {}

  /**
   * The dictionary that the lines of one field make up (§3.2), in the order of its keys; null if
   * they are none: then the whole field is to be ignored (§4.2). No line and an empty value are an
   * empty dictionary. Of a key that was given twice, the last value counts.
   */
  public static @Nullable Map<String, Object> dictionary(List<String> lines) {
    Map<String, Object> members = new LinkedHashMap<>();
    Consumer<MatchResult> taker = member -> members.put(member.group("key"), value(member));
    return areAll(lines, DICTIONARY, taker) ? members : null;
  }

  /** The members of the list that the lines of one field make up (§3.1), or null as above. */
  static @Nullable List<Object> list(List<String> lines) {
    List<Object> members = new ArrayList<>();
    return areAll(lines, LIST, member -> members.add(value(member))) ? members : null;
  }

  /**
   * The texts of a list that has strings and nothing else, as fields are defined whose members are
   * names; null if it is another.
   */
  public static @Nullable List<String> strings(List<String> lines) {
    List<Object> members = list(lines);
    return members != null && members.stream().allMatch(String.class::isInstance)
        ? members.stream().map(String.class::cast).toList()
        : null;
  }

  /** §4.2: members and nothing else. */
  private static boolean areAll(List<String> lines, Pattern member, Consumer<MatchResult> taker) {
    String text = String.join(", ", lines);
    int end = 0;
    while (end < text.length() && text.charAt(end) == ' ') {
      end++;
    }
    Matcher next = member.matcher(text).region(end, text.length());
    while (end < text.length() && next.find()) {
      taker.accept(next);
      end = next.end();
    }
    return end == text.length();
  }

  private static Object value(MatchResult member) {
    String text = member.group("item");
    if (text == null || text.startsWith("?")) {
      return text == null || text.equals("?1");
    }
    if (text.startsWith("\"")) {
      return text.substring(1, text.length() - 1).replaceAll("\\\\(.)", "$1");
    }
    boolean isNumber = text.startsWith("-") || Octets.isDigit((byte) text.charAt(0));
    return isNumber && text.indexOf('.') < 0 ? Long.valueOf(text) : OTHER;
  }
}
