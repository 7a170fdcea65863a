package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a route makes of request fields that differ in more than it has responses for: one of few
 * values, by which responses are told apart. Immutable; any thread.
 */
sealed interface NormalForm {

  /*
   * A value is read from the octets of the request and compared without being made a String: so it
   * is on each hit, once for each variant. The origin is asked with the value that was found, and
   * so cannot answer by a preference that is no part of it.
   *
   * How much is read of a field is bounded, because its sender may be hostile.
   */

  /** What it is called where it is kept. It is no token, so that no field has that name. */
  String name();

  /** The request fields that it is made of, in lower case. */
  List<String> fields();

  /** The value for a request; null if the request has none. */
  @Nullable String of(Fields request);

  /** Whether that is the value for a request. */
  default boolean is(Fields request, @Nullable String value) {
    return Objects.equals(of(request), value);
  }

  /** Asks the origin for no more than the value for a request. */
  default void applyTo(Fields request) {
    putInto(request, of(request));
  }

  /** Makes a request one that has this value. */
  void putInto(Fields request, @Nullable String value);

  /** As it is written in a configuration or in {@link #name}; null if it is none. */
  static @Nullable NormalForm parse(String text) {
    if (text.startsWith(CookieForm.PREFIX)) {
      String cookie = text.substring(CookieForm.PREFIX.length());
      return Octets.isToken(cookie) ? new CookieForm(cookie) : null;
    }
    if (text.startsWith(LanguageForm.PREFIX)) {
      String[] tags = text.substring(LanguageForm.PREFIX.length()).split("[,|]", -1);
      return LanguageForm.of(List.of(tags));
    }
    return switch (text) {
      case "images", ImageForm.NAME -> new ImageForm();
      case "device", DeviceForm.NAME -> new DeviceForm();
      default -> null;
    };
  }

  /** The value of one cookie. */
  record CookieForm(String cookie) implements NormalForm {

    /*
     * Servers differ in what they read as a cookie of that name, so a request has its plain value
     * only if all read it: the one occurrence of the name, spelled exactly, where a cookie begins.
     * Where some server could read another one, or none, the value is the whole field: else one
     * client could store under the key of others what the origin makes of its spelling.
     *
     * Such a value begins with a line feed, which no field has in it, as each of its lines does.
     */
    private static final String PREFIX = "cookie:";

    private static final int ABSENT = -1;
    private static final int UNCLEAR = -2;

    @Override
    public String name() {
      return PREFIX + cookie;
    }

    @Override
    public List<String> fields() {
      return List.of("cookie");
    }

    /** Whether a value of the form of that name is the whole field, which is secret. */
    static boolean isWhole(String name, String value) {
      return name.startsWith(PREFIX) && value.startsWith("\n");
    }

    @Override
    public @Nullable String of(Fields request) {
      int at = find(request);
      if (at == ABSENT) {
        return null;
      }
      if (at == UNCLEAR) {
        return "\n" + String.join("\n", request.all(FieldName.COOKIE));
      }
      int lineEnd = request.valueEnd(request.indexOf(FieldName.COOKIE));
      return Octets.text(request.octets(), at, end(request.octets(), at, lineEnd));
    }

    @Override
    public boolean is(Fields request, @Nullable String value) {
      int at = find(request);
      if (at == ABSENT || value == null) {
        return at == ABSENT && value == null;
      }
      if (at == UNCLEAR) {
        return isWholeOf(request, value);
      }
      int end = end(request.octets(), at, request.valueEnd(request.indexOf(FieldName.COOKIE)));
      return end - at == value.length() && isTextAt(request.octets(), at, end, value, 0);
    }

    private static boolean isWholeOf(Fields request, String value) {
      int read = 0;
      for (int i = request.indexOf(FieldName.COOKIE);
          i >= 0;
          i = request.indexOf(FieldName.COOKIE, i + 1)) {
        int start = request.valueStart(i);
        int end = request.valueEnd(i);
        if (read + 1 + end - start > value.length()
            || value.charAt(read) != '\n'
            || !isTextAt(request.octets(), start, end, value, read + 1)) {
          return false;
        }
        read += 1 + end - start;
      }
      return read == value.length();
    }

    private static boolean isTextAt(byte[] octets, int start, int end, String text, int from) {
      for (int i = start; i < end; i++) {
        if ((octets[i] & 0xff) != text.charAt(from + i - start)) {
          return false;
        }
      }
      return true;
    }

    /** The origin may need the other cookies. */
    @Override
    public void applyTo(Fields request) {}

    @Override
    public void putInto(Fields request, @Nullable String value) {
      if (value != null && isWhole(PREFIX, value)) {
        request.remove(FieldName.COOKIE);
        List.of(value.substring(1).split("\n", -1))
            .forEach(line -> request.add(FieldName.COOKIE, line));
      } else if (value != null) {
        String others = request.joined(FieldName.COOKIE);
        String pair = cookie + "=" + value;
        request.set(FieldName.COOKIE, others == null ? pair : others + "; " + pair);
      }
    }

    /** Where its plain value begins, or that there is none. */
    private int find(Fields request) {
      int first = request.indexOf(FieldName.COOKIE);
      int found = ABSENT;
      for (int i = first; i >= 0; i = request.indexOf(FieldName.COOKIE, i + 1)) {
        int at = find(request.octets(), request.valueStart(i), request.valueEnd(i));
        boolean isOnly = i == first && request.indexOf(FieldName.COOKIE, i + 1) < 0;
        if (at != ABSENT) {
          found = isOnly ? at : UNCLEAR;
        }
      }
      return found;
    }

    private int find(byte[] octets, int start, int end) {
      int found = ABSENT;
      for (int at = start; at < end; at++) {
        if (Cookies.canBegin(octets, start, at) && Cookies.canBe(octets, at, end, cookie)) {
          if (found != ABSENT || !isPlain(octets, start, at, end)) {
            return UNCLEAR;
          }
          found = at + cookie.length() + 1;
        }
      }
      return found == ABSENT || Cookies.areClear(octets, start, end) ? found : UNCLEAR;
    }

    private boolean isPlain(byte[] octets, int start, int at, int end) {
      int equals = at + cookie.length();
      int before = at > start && octets[at - 1] == ' ' ? at - 1 : at;
      return equals < end
          && octets[equals] == '='
          && isTextAt(octets, at, equals, cookie, 0)
          && (at == start || (before > start && octets[before - 1] == ';'));
    }

    private static int end(byte[] octets, int start, int lineEnd) {
      int end = start;
      while (end < lineEnd && octets[end] != ';') {
        end++;
      }
      return end;
    }
  }

  /** The best of some languages (RFC 4647 §3.4); without any, the first. */
  record LanguageForm(List<String> tags) implements NormalForm {

    private static final String PREFIX = "language:";
    private static final int TAGS_LIMIT = 32;
    private static final Pattern TAG = Pattern.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}");

    /** Of so many octets is the longest range that one would expect (RFC 5646 §4.4.1). */
    private static final int RANGE_LIMIT = 35;

    static @Nullable LanguageForm of(List<String> tags) {
      boolean areTags = tags.stream().allMatch(tag -> TAG.matcher(tag).matches());
      long different = tags.stream().map(tag -> tag.toLowerCase(Locale.ROOT)).distinct().count();
      return areTags && different == tags.size() && different > 1 && different <= TAGS_LIMIT
          ? new LanguageForm(tags)
          : null;
    }

    @Override
    public String name() {
      return PREFIX + String.join("|", tags);
    }

    @Override
    public List<String> fields() {
      return List.of("accept-language");
    }

    @Override
    public String of(Fields request) {
      int best = 0;
      int bestWeight = 0;
      int count = 0;
      byte[] octets = request.octets();
      for (int line = request.indexOf(FieldName.ACCEPT_LANGUAGE);
          line >= 0;
          line = request.indexOf(FieldName.ACCEPT_LANGUAGE, line + 1)) {
        int lineEnd = request.valueEnd(line);
        int end;
        for (int at = request.valueStart(line);
            at < lineEnd && count++ < WeightedList.LIMIT;
            at = end + 1) {
          end = WeightedList.memberEnd(octets, at, lineEnd);
          int weight = WeightedList.weight(octets, at, end);
          int found = weight > bestWeight ? lookup(octets, at, end) : -1;
          if (found >= 0) {
            best = found;
            bestWeight = weight;
          }
        }
      }
      return tags.get(best);
    }

    /** Which tag a range is, or that what is left of it is without its end; or -1. */
    private int lookup(byte[] octets, int from, int memberEnd) {
      int start = Octets.skipBlanks(octets, from, memberEnd);
      int end = WeightedList.nameEnd(octets, start, memberEnd);
      while (end > start && end - start <= RANGE_LIMIT) {
        for (int i = 0; i < tags.size(); i++) {
          if (Octets.equalsIgnoreCase(octets, start, end, tags.get(i))) {
            return i;
          }
        }
        do {
          end--;
        } while (end > start && octets[end] != '-');
        if (end - 2 > start && octets[end - 2] == '-') {
          end -= 2;
        }
      }
      return -1;
    }

    @Override
    public void putInto(Fields request, @Nullable String value) {
      request.set(FieldName.ACCEPT_LANGUAGE, Objects.requireNonNullElse(value, tags.getFirst()));
    }
  }

  /** The newest format of images that a client names: {@code avif}, {@code webp} or none. */
  record ImageForm() implements NormalForm {

    private static final String NAME = "images:avif|webp|other";
    private static final String AVIF = "image/avif";
    private static final String WEBP = "image/webp";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public List<String> fields() {
      return List.of("accept");
    }

    @Override
    public String of(Fields request) {
      return takes(request, AVIF) ? "avif" : takes(request, WEBP) ? "webp" : "other";
    }

    private static boolean takes(Fields request, String type) {
      int count = 0;
      byte[] octets = request.octets();
      for (int line = request.indexOf(FieldName.ACCEPT);
          line >= 0;
          line = request.indexOf(FieldName.ACCEPT, line + 1)) {
        int lineEnd = request.valueEnd(line);
        int end;
        for (int at = request.valueStart(line);
            at < lineEnd && count++ < WeightedList.LIMIT;
            at = end + 1) {
          end = WeightedList.memberEnd(octets, at, lineEnd);
          int start = Octets.skipBlanks(octets, at, end);
          int nameEnd = WeightedList.nameEnd(octets, start, end);
          if (Octets.equalsIgnoreCase(octets, start, nameEnd, type)
              && WeightedList.weight(octets, start, end) > 0) {
            return true;
          }
        }
      }
      return false;
    }

    @Override
    public void putInto(Fields request, @Nullable String value) {
      request.set(
          FieldName.ACCEPT,
          switch (Objects.requireNonNullElse(value, "other")) {
            case "avif" -> AVIF + ", " + WEBP + ", */*;q=0.8";
            case "webp" -> WEBP + ", */*;q=0.8";
            default -> "*/*";
          });
    }
  }

  /** Whether it is a phone: by the hint of the client, else by what its name has in it. */
  record DeviceForm() implements NormalForm {

    /*
     * The origin gets a hint and a name that say the same, and the name of no client: else a client
     * could store the page for phones as the other one, by a hint that contradicts its name or by a
     * name that only the origin takes for a phone. The names are those that Chrome sends, where it
     * says no more than this.
     */
    private static final String NAME = "device:mobile|other";
    private static final String HINT = "Sec-CH-UA-Mobile";
    private static final List<String> PHONES = List.of("mobi", "iphone", "ipod", "blackberry");
    private static final int NAME_LIMIT = 512;
    private static final String MOBILE_NAME =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)"
            + " Chrome/140.0.0.0 Mobile Safari/537.36";
    private static final String OTHER_NAME =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
            + " Chrome/140.0.0.0 Safari/537.36";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public List<String> fields() {
      return List.of("sec-ch-ua-mobile", "user-agent");
    }

    @Override
    public String of(Fields request) {
      byte[] octets = request.octets();
      for (int i = 0; i < request.size(); i++) {
        if (request.nameIs(i, HINT)) {
          boolean isPhone =
              Octets.equalsIgnoreCase(octets, request.valueStart(i), request.valueEnd(i), "?1");
          return isPhone ? "mobile" : "other";
        }
      }
      int line = request.indexOf(FieldName.USER_AGENT);
      return line >= 0 && isPhone(octets, request.valueStart(line), request.valueEnd(line))
          ? "mobile"
          : "other";
    }

    private static boolean isPhone(byte[] octets, int start, int valueEnd) {
      int end = Math.min(valueEnd, start + NAME_LIMIT);
      for (int at = start; at < end; at++) {
        for (int i = 0; i < PHONES.size(); i++) {
          String name = PHONES.get(i);
          if (Octets.lower(octets[at]) == name.charAt(0)
              && at + name.length() <= end
              && Octets.equalsIgnoreCase(octets, at, at + name.length(), name)) {
            return true;
          }
        }
      }
      return false;
    }

    @Override
    public void putInto(Fields request, @Nullable String value) {
      boolean isPhone = "mobile".equals(value);
      request.remove(HINT);
      request.add(HINT, isPhone ? "?1" : "?0");
      request.set(FieldName.USER_AGENT, isPhone ? MOBILE_NAME : OTHER_NAME);
    }
  }

  /** The members of a list with weights (RFC 9110 §12.4.2), as octets. */
  final class WeightedList {

    /** How many members are read. */
    private static final int LIMIT = 32;

    private static final int MOST = 1000;

    private WeightedList() {}

    private static int memberEnd(byte[] octets, int start, int end) {
      int at = start;
      while (at < end && octets[at] != ',') {
        at++;
      }
      return at;
    }

    private static int nameEnd(byte[] octets, int start, int end) {
      int at = start;
      while (at < end && octets[at] != ';' && !Octets.isBlank(octets[at])) {
        at++;
      }
      return at;
    }

    /** In thousandths; 0 if it is malformed. */
    private static int weight(byte[] octets, int start, int end) {
      for (int at = start; at < end; at++) {
        if (octets[at] == ';') {
          int q = Octets.skipBlanks(octets, at + 1, end);
          if (q + 1 < end && Octets.lower(octets[q]) == 'q' && octets[q + 1] == '=') {
            return thousandths(octets, q + 2, end);
          }
        }
      }
      return MOST;
    }

    private static int thousandths(byte[] octets, int from, int end) {
      int weight = 0;
      int unit = MOST;
      for (int at = from; at < end && unit > 0 && !Octets.isBlank(octets[at]); at++) {
        if (Octets.isDigit(octets[at])) {
          weight += (octets[at] - '0') * unit;
          unit /= 10;
        } else if (octets[at] != '.' || at != from + 1) {
          return octets[at] == ';' ? Math.min(weight, MOST) : 0;
        }
      }
      return Math.min(weight, MOST);
    }
  }
}
