package io.kamille.admin.api;

import io.kamille.cache.key.CacheKey;
import io.kamille.core.http.Octets;
import io.kamille.core.setting.Problems;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parameters of a query, as forms write them (application/x-www-form-urlencoded). */
public final class Query {

  /*
   * A value is octets, one per character, because field values are: nothing is taken for UTF-8.
   * What is unknown is refused, for it is nearly always the rest of a URL that was not encoded.
   */
  static final Query NONE = new Query();

  private final Map<String, List<String>> values = new LinkedHashMap<>();

  private Query() {}

  /** The parameters of a request, all of which must be known. */
  static Query of(AdminRequest request, Set<String> known) throws InvalidRequest {
    String query = request.query();
    Query parsed = new Query();
    for (String parameter :
        query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = parameter.indexOf('=');
      String name = equals < 0 ? parameter : parameter.substring(0, equals);
      if (!known.contains(name)) {
        throw new InvalidRequest(
            "There is a parameter that this resource does not have; encode & in a URL as %26.");
      }
      String value = equals < 0 ? "" : decoded(parameter.substring(equals + 1));
      parsed.values.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
    }
    return parsed;
  }

  /** The value of a parameter that must be there, once. */
  public String one(String name) throws InvalidRequest {
    String value = optional(name);
    if (value == null) {
      throw new InvalidRequest("The parameter " + name + " is missing.");
    }
    return value;
  }

  /** The value of a parameter that may be there, once. */
  public @Nullable String optional(String name) throws InvalidRequest {
    List<String> all = all(name);
    if (all.size() > 1) {
      throw new InvalidRequest("The parameter " + name + " is there more than once.");
    }
    return all.isEmpty() ? null : all.getFirst();
  }

  /** All values of a parameter, in order. */
  public List<String> all(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** The value of {@code url}, which a request can have as its target. */
  public String url() throws InvalidRequest {
    String url = one("url");
    if (url.indexOf('#') >= 0) {
      throw new InvalidRequest("url must have no fragment: it is never sent in a request.");
    }
    if (CacheKey.find(url) == null) {
      throw new InvalidRequest(noUrl("url", url));
    }
    return url;
  }

  /** Says that a value is no URL that a request can have as its target. */
  public static String noUrl(String name, String value) {
    return name
        + ": found "
        + Problems.quote(value)
        + ", expected a URL as clients send it, such as https://example.org/a?b=%C3%BC";
  }

  /** The value of a parameter that is a number from 1 to {@code limit}, or {@code otherwise}. */
  public int number(String name, int otherwise, int limit) throws InvalidRequest {
    String text = optional(name);
    if (text == null) {
      return otherwise;
    }
    if (text.matches("[0-9]{1,9}")) {
      int value = Integer.parseInt(text);
      if (value >= 1 && value <= limit) {
        return value;
      }
    }
    throw new InvalidRequest(name + " must be a number from 1 to " + limit + ".");
  }

  private static String decoded(String text) throws InvalidRequest {
    ByteArrayOutputStream octets = new ByteArrayOutputStream(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '%') {
        octets.write(octet(text, i));
        i += 2;
      } else {
        octets.write(c == '+' ? ' ' : c);
      }
    }
    byte[] all = octets.toByteArray();
    return Octets.text(all, 0, all.length);
  }

  private static int octet(String text, int at) throws InvalidRequest {
    int high = at + 2 < text.length() ? Character.digit(text.charAt(at + 1), 16) : -1;
    int low = at + 2 < text.length() ? Character.digit(text.charAt(at + 2), 16) : -1;
    if (high < 0 || low < 0) {
      throw new InvalidRequest("The query is not percent-encoded.");
    }
    return high << 4 | low;
  }
}
