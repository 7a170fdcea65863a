package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

import io.kamille.cache.rules.CacheControl.Directives;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StructuredFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The directives of {@code CDN-Cache-Control}, which is for caches that work on behalf of the
 * origin, as this one does (RFC 9213). Stateless; any thread.
 */
final class TargetedCacheControl {

  /*
   * Our target list (§2.2) is this one field. It is a dictionary, and a value that is none, or
   * empty, counts as absent. Where a member has a value of another type than its directive's, less
   * is stored and reused: a lifetime is 0, an extension of it too, and what forbids, forbids; what
   * permits does not. `?0` says that a directive does not hold.
   */

  private TargetedCacheControl() {}

  /** Null if there is none that is valid. */
  static @Nullable CacheControl parse(Fields response) {
    if (!response.has(FieldName.CDN_CACHE_CONTROL)) {
      return null;
    }
    Map<String, Object> members =
        StructuredFields.dictionary(response.all(FieldName.CDN_CACHE_CONTROL));
    if (members == null || members.isEmpty()) {
      return null;
    }
    Directives found = new Directives();
    found.flags = CacheControl.TARGETED;
    members.forEach((key, value) -> take(key, value, found));
    return new CacheControl(found);
  }

  private static void take(String directive, Object value, Directives found) {
    switch (directive) {
      case "max-age" -> found.maxAgeSeconds = delta(value);
      case "s-maxage" -> found.sMaxAgeSeconds = delta(value);
      case "stale-while-revalidate" -> found.staleWhileRevalidateSeconds = delta(value);
      case "stale-if-error" -> found.staleIfErrorSeconds = delta(value);
      case "no-store" -> forbid(CacheControl.NO_STORE, value, found);
      case "must-revalidate" -> forbid(CacheControl.MUST_REVALIDATE, value, found);
      case "proxy-revalidate" -> forbid(CacheControl.PROXY_REVALIDATE, value, found);
      case "no-transform" -> forbid(CacheControl.NO_TRANSFORM, value, found);
      case "public" -> permit(CacheControl.PUBLIC, value, found);
      case "must-understand" -> permit(CacheControl.MUST_UNDERSTAND, value, found);
      case "immutable" -> permit(CacheControl.IMMUTABLE, value, found);
      case "no-cache" -> found.noCacheFields = listed(CacheControl.NO_CACHE, value, found);
      case "private" -> found.privateFields = listed(CacheControl.PRIVATE, value, found);
      default -> {}
    }
  }

  private static int delta(Object value) {
    if (value.equals(false)) {
      return ABSENT;
    }
    return value instanceof Long number ? Math.clamp(number, 0, Integer.MAX_VALUE) : 0;
  }

  private static void forbid(int flag, Object value, Directives found) {
    if (!value.equals(false)) {
      found.flags |= flag;
    }
  }

  private static void permit(int flag, Object value, Directives found) {
    if (value.equals(true)) {
      found.flags |= flag;
    }
  }

  /** The fields that a string lists; else none, and the flag is set. */
  private static List<String> listed(int flag, Object value, Directives found) {
    List<String> names = new ArrayList<>();
    if (value instanceof String list && Directives.readNames(list, names)) {
      return List.copyOf(names);
    }
    forbid(flag, value, found);
    return List.of();
  }
}
