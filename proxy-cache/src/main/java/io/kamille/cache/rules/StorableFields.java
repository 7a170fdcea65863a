package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** The fields of a response that are stored with it (RFC 9111 §3.1). Stateless; any thread. */
public final class StorableFields {

  /*
   * Left out are: fields for one connection and those Connection names, fields for one proxy,
   * fields that a qualified no-cache or private keeps from others, tags,
   * which are for us and not for clients, and three that are worked out anew for each answer: Age,
   * and the framing that Content-Length and Transfer-Encoding are.
   */
  private static final long NEVER =
      Fields.mask(
          FieldName.AGE,
          FieldName.CACHE_TAG,
          FieldName.CONNECTION,
          FieldName.CONTENT_LENGTH,
          FieldName.KEEP_ALIVE,
          FieldName.PROXY_AUTHENTICATE,
          FieldName.PROXY_AUTHENTICATION_INFO,
          FieldName.PROXY_AUTHORIZATION,
          FieldName.PROXY_CONNECTION,
          FieldName.SURROGATE_KEY,
          FieldName.TE,
          FieldName.TRAILER,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE);

  /**
   * What we decide by ourselves is not lost to a name in {@code Connection}, where no end-to-end
   * field belongs (RFC 9110 §7.6.1), nor, as far as we could not do without, to a directive.
   */
  private static final Set<String> NO_OPTIONS =
      Set.of("date", "etag", "expires", "last-modified", "set-cookie");

  private static final Set<String> NEEDED = Set.of("cache-control", "cdn-cache-control", "vary");

  private StorableFields() {}

  /**
   * A copy of the fields to store. It has a {@code Date}, the time of reception if the origin sent
   * none or none that is valid (RFC 9110 §6.6.1).
   *
   * @param control its directives
   * @param responseTime when the response was received, in epoch seconds
   */
  public static Fields of(Fields response, CacheControl control, long responseTime) {
    Fields stored = without(response, excluded(response, control));
    date(stored, responseTime);
    return stored;
  }

  /** The fields whose names are neither excluded nor never stored. */
  static Fields without(Fields response, Set<String> excluded) {
    Fields kept = new Fields();
    for (int i = 0; i < response.size(); i++) {
      FieldName known = response.knownAt(i);
      boolean isNever = known != null && (Fields.mask(known) & NEVER) != 0;
      if (!isNever && !isOneOf(response, i, excluded)) {
        kept.addFrom(response, i);
      }
    }
    return kept;
  }

  /** The names that this response itself keeps out of the store, in lower case. */
  static Set<String> excluded(Fields response, CacheControl control) {
    Set<String> names = new HashSet<>();
    for (String value : response.all(FieldName.CONNECTION)) {
      for (String option : value.split(",", -1)) {
        names.add(option.strip().toLowerCase(Locale.ROOT));
      }
    }
    names.removeAll(NO_OPTIONS);
    names.addAll(control.fields(Directive.NO_CACHE));
    names.addAll(control.fields(Directive.PRIVATE));
    names.removeAll(NEEDED);
    return names;
  }

  private static boolean isOneOf(Fields fields, int index, Set<String> names) {
    for (String name : names) {
      if (fields.nameIs(index, name)) {
        return true;
      }
    }
    return false;
  }

  static void date(Fields fields, long responseTime) {
    if (HttpDate.parse(fields.first(FieldName.DATE), responseTime) == HttpDate.INVALID) {
      fields.set(FieldName.DATE, HttpDate.format(responseTime));
    }
  }
}
