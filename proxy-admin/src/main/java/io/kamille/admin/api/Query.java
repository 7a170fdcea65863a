package io.kamille.admin.api;

import io.kamille.cache.key.CacheKey;
import io.kamille.core.setting.Problems;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parameters of a query, as forms write them (application/x-www-form-urlencoded). */
public record Query(Map<String, List<String>> values) {

  /*
   * A value is octets, one per character, because field values are: nothing is taken for UTF-8.
   * What is unknown is refused, for it is nearly always the rest of a URL that was not encoded.
   */
  static final Query NONE = new Query(Map.of());

  /** The parameters of a request, all of which must be known. */
  static Query of(AdminRequest request, Set<String> known) throws InvalidRequest {
    String query = request.query() == null ? "" : request.query();
    Map<String, List<String>> values;
    try {
      values =
          new QueryStringDecoder(query, StandardCharsets.ISO_8859_1, false, Integer.MAX_VALUE, true)
              .parameters();
    } catch (IllegalArgumentException malformed) {
      throw new InvalidRequest("The query is not percent-encoded.");
    }
    if (!known.containsAll(values.keySet())) {
      throw new InvalidRequest(
          "There is a parameter that this resource does not have; encode & in a URL as %26.");
    }
    return new Query(values);
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
}
