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

  private static void take(String key, Object value, Directives found) {
    Directive directive = Directive.find(key::equals);
    if (directive == null) {
      return;
    }
    boolean forbids = !value.equals(false);
    switch (directive.kind()) {
      case LIFETIME, EXTENSION -> found.seconds[directive.ordinal()] = delta(value);
      case FORBIDS -> add(directive, forbids, found);
      case PERMITS -> add(directive, value.equals(true), found);
      case LISTS -> {
        List<String> names = new ArrayList<>();
        if (value instanceof String list && Directives.readNames(list, names)) {
          found.name(directive, names);
        } else {
          add(directive, forbids, found);
        }
      }
      case ANY_EXTENSION, DEMAND -> {} // of requests
    }
  }

  private static int delta(Object value) {
    if (value.equals(false)) {
      return ABSENT;
    }
    return value instanceof Long number ? Math.clamp(number, 0, Integer.MAX_VALUE) : 0;
  }

  private static void add(Directive directive, boolean holds, Directives found) {
    if (holds) {
      found.add(directive);
    }
  }
}
