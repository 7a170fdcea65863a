package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

import io.kamille.core.http.Octets;
import java.util.List;
import java.util.Locale;

/** What has been read of a message's cache directives so far. For one thread and one use. */
final class Directives {

  /** A bit for each directive without a value, as {@link CacheControl} names them. */
  int flags;

  int maxAgeSeconds = ABSENT;
  int sMaxAgeSeconds = ABSENT;
  int staleWhileRevalidateSeconds = ABSENT;
  int staleIfErrorSeconds = ABSENT;
  int maxStaleSeconds = ABSENT;
  int minFreshSeconds = ABSENT;
  List<String> noCacheFields = List.of();
  List<String> privateFields = List.of();

  /**
   * Adds the field names of a list, as the argument of no-cache and private has it (RFC 9111
   * §5.2.2.4), in lower case.
   *
   * @return whether there was one at least, and nothing else
   */
  static boolean readNames(String list, List<String> names) {
    int sizeBefore = names.size();
    for (String element : list.split(",", -1)) {
      String name = element.strip();
      if (Octets.isToken(name)) {
        names.add(name.toLowerCase(Locale.ROOT));
      } else if (!name.isEmpty()) {
        return false;
      }
    }
    return names.size() > sizeBefore;
  }
}
