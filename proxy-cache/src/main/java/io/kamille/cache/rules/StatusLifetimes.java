package io.kamille.cache.rules;

import io.kamille.core.http.StatusCode;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Lifetimes by status code, for responses that carry none: negative caching. Immutable; any thread.
 *
 * @param secondsByCode lifetimes under status codes ({@code 404}) and classes ({@code 5xx}), where
 *     a code wins over its class
 */
public record StatusLifetimes(Map<String, Integer> secondsByCode) {

  /*
   * A class stands for the codes that tell of the resource. Those that answer something about one
   * request, who asks, how often, or with what fields, must be named one by one, and some of them
   * cannot be: what one client provokes by its credentials, range or precondition would be given to
   * all.
   */
  private static final Pattern CODE = Pattern.compile("[2-5]([0-9]{2}|xx)");

  public static final StatusLifetimes NONE = new StatusLifetimes(Map.of());

  public StatusLifetimes {
    secondsByCode = Map.copyOf(secondsByCode);
  }

  /** Whether {@code text} is a status code that can have a lifetime, or a class of them. */
  public static boolean isCode(String text) {
    return CODE.matcher(text).matches()
        && (text.endsWith("xx") || !isNeverStored(Integer.parseInt(text)));
  }

  /** The lifetime of responses with this status code, or {@link CacheControl#ABSENT}. */
  int secondsOf(int status) {
    if (secondsByCode.isEmpty()) {
      return CacheControl.ABSENT;
    }
    Integer own = secondsByCode.get(Integer.toString(status));
    if (own != null || isNeverStored(status) || isOfOneRequest(status)) {
      return own == null ? CacheControl.ABSENT : own;
    }
    return secondsByCode.getOrDefault(status / 100 + "xx", CacheControl.ABSENT);
  }

  private static boolean isNeverStored(int status) {
    return switch (status) {
      case StatusCode.PARTIAL_CONTENT, StatusCode.NOT_MODIFIED -> true;
      case 401, 407, 412, 416, 417 -> true;
      default -> false;
    };
  }

  /** What the fields of one request, its sender or its rate bring about (RFC 9110 §15.5, 6585). */
  private static boolean isOfOneRequest(int status) {
    return switch (status) {
      case 400, 402, 403, 406, 408, 411, 413, 415, 421, 422, 425, 426, 428, 429, 431, 511 -> true;
      default -> false;
    };
  }
}
