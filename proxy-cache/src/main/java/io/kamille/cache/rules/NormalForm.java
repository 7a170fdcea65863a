package io.kamille.cache.rules;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestCookie;
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

  /** How many members of a list are read. */
  int LIST_LIMIT = 32;

  /** What it is called where it is kept. It is no token, so that no field has that name. */
  default String name() {
    return switch (this) {
      case CookieForm form -> CookieForm.PREFIX + form.cookie;
      case LanguageForm form -> LanguageForm.PREFIX + String.join("|", form.tags);
      case ImageForm form -> ImageForm.NAME;
      case DeviceForm form -> DeviceForm.NAME;
    };
  }

  /** The request fields that it is made of, in lower case. */
  default List<String> fields() {
    return switch (this) {
      case CookieForm form -> List.of("cookie");
      case LanguageForm form -> List.of("accept-language");
      case ImageForm form -> List.of("accept");
      case DeviceForm form -> List.of("sec-ch-ua-mobile", "user-agent");
    };
  }

  /** The value for a request; null if the request has none. */
  @Nullable String of(Fields request);

  /** Whether that is the value for a request. */
  default boolean is(Fields request, @Nullable String value) {
    return Objects.equals(of(request), value);
  }

  /** Whether servers could read another value than this in a request. */
  default boolean isUnclear(Fields request) {
    return false;
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

  /**
   * The name that a list in a request gives the highest weight (RFC 9110 §12.4.2), of several the
   * first; null if it has none of them.
   *
   * @param separator what may follow a name in a longer one that stands for it
   */
  private static @Nullable String best(
      Fields request, FieldName list, List<String> names, char separator) {
    byte[] octets = request.octets();
    String best = null;
    int bestWeight = 0;
    int count = 0;
    for (int line = request.indexOf(list); line >= 0; line = request.indexOf(list, line + 1)) {
      int lineEnd = request.valueEnd(line);
      int end;
      for (int at = request.valueStart(line); at < lineEnd && count++ < LIST_LIMIT; at = end + 1) {
        end = Octets.indexOf(octets, at, lineEnd, ',');
        int start = Octets.skipBlanks(octets, at, end);
        int semicolon = Octets.indexOf(octets, start, end, ';');
        int nameEnd = Octets.trimmedEnd(octets, start, semicolon);
        String found = longest(octets, start, nameEnd, names, separator);
        int weight = found == null ? 0 : AcceptedCodings.weight(octets, semicolon, end);
        if (weight > bestWeight) {
          best = found;
          bestWeight = weight;
        }
      }
    }
    return best;
  }

  private static @Nullable String longest(
      byte[] octets, int start, int end, List<String> names, char separator) {
    String longest = null;
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      int nameEnd = start + name.length();
      if ((nameEnd == end || (nameEnd < end && octets[nameEnd] == separator))
          && (longest == null || name.length() > longest.length())
          && Octets.equalsIgnoreCase(octets, start, nameEnd, name)) {
        longest = name;
      }
    }
    return longest;
  }

  /**
   * The value of one cookie. A request in which servers could read another one never gets here
   * ({@link #isUnclear}).
   */
  record CookieForm(String cookie) implements NormalForm {

    private static final String PREFIX = "cookie:";

    @Override
    public @Nullable String of(Fields request) {
      return RequestCookie.value(request, cookie);
    }

    @Override
    public boolean is(Fields request, @Nullable String value) {
      long found = RequestCookie.find(request, cookie);
      if (found == RequestCookie.NONE || value == null) {
        return found == RequestCookie.NONE && value == null;
      }
      return Octets.equals(
          request.octets(), RequestCookie.start(found), RequestCookie.end(found), value);
    }

    @Override
    public boolean isUnclear(Fields request) {
      return Cookies.areUnclear(request, cookie);
    }

    /** The origin may need the other cookies. */
    @Override
    public void applyTo(Fields request) {}

    @Override
    public void putInto(Fields request, @Nullable String value) {
      if (value != null) {
        String others = request.joined(FieldName.COOKIE);
        String pair = cookie + "=" + value;
        request.set(FieldName.COOKIE, others == null ? pair : others + "; " + pair);
      }
    }
  }

  /** The best of some languages (RFC 4647 §3.4); without any, the first. */
  record LanguageForm(List<String> tags) implements NormalForm {

    private static final String PREFIX = "language:";
    private static final int TAGS_LIMIT = 32;
    private static final Pattern TAG = Pattern.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}");

    static @Nullable LanguageForm of(List<String> tags) {
      boolean areTags = tags.stream().allMatch(tag -> TAG.matcher(tag).matches());
      long different = tags.stream().map(tag -> tag.toLowerCase(Locale.ROOT)).distinct().count();
      return areTags && different == tags.size() && different > 1 && different <= TAGS_LIMIT
          ? new LanguageForm(tags)
          : null;
    }

    /** A range loses its end until it is a tag, so it is the longest tag that it begins with. */
    @Override
    public String of(Fields request) {
      String best = best(request, FieldName.ACCEPT_LANGUAGE, tags, '-');
      return best == null ? tags.getFirst() : best;
    }

    @Override
    public void putInto(Fields request, @Nullable String value) {
      request.set(FieldName.ACCEPT_LANGUAGE, Objects.requireNonNullElse(value, tags.getFirst()));
    }
  }

  /** The newest format of images that a client names: {@code avif}, {@code webp} or none. */
  record ImageForm() implements NormalForm {

    private static final String NAME = "images:avif|webp|other";
    private static final List<String> AVIF = List.of("image/avif");
    private static final List<String> WEBP = List.of("image/webp");

    @Override
    public String of(Fields request) {
      return takes(request, AVIF) ? "avif" : takes(request, WEBP) ? "webp" : "other";
    }

    private static boolean takes(Fields request, List<String> type) {
      return best(request, FieldName.ACCEPT, type, ';') != null;
    }

    @Override
    public void putInto(Fields request, @Nullable String value) {
      request.set(
          FieldName.ACCEPT,
          switch (Objects.requireNonNullElse(value, "other")) {
            case "avif" -> "image/avif, image/webp, */*;q=0.8";
            case "webp" -> "image/webp, */*;q=0.8";
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
    public String of(Fields request) {
      return isPhone(request) ? "mobile" : "other";
    }

    private static boolean isPhone(Fields request) {
      byte[] octets = request.octets();
      int hint = request.indexOf(HINT, 0);
      if (hint >= 0) {
        return Octets.equals(octets, request.valueStart(hint), request.valueEnd(hint), "?1");
      }
      int line = request.indexOf(FieldName.USER_AGENT);
      int start = line < 0 ? 0 : request.valueStart(line);
      int end = line < 0 ? 0 : Math.min(request.valueEnd(line), start + NAME_LIMIT);
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
}
