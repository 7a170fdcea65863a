package io.kamille.core.tls;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds what belongs to a server name: the exact one, then the wildcard of its first label (RFC
 * 9525 §6.3), then the default. Immutable; any thread.
 */
final class ServerNames<T> {

  private static final String WILDCARD = "*.";

  private final Map<String, T> exact;
  private final Map<String, T> wildcards;
  private final T byDefault;

  private ServerNames(Map<String, T> exact, Map<String, T> wildcards, T byDefault) {
    this.exact = exact;
    this.wildcards = wildcards;
    this.byDefault = byDefault;
  }

  /**
   * What each name, in lower case, belongs to.
   *
   * @param byDefault for a client that names no server, or one we do not know
   */
  static <T> ServerNames<T> of(Map<String, T> names, T byDefault) {
    Map<String, T> exact = new HashMap<>();
    Map<String, T> wildcards = new HashMap<>();
    names.forEach(
        (name, value) -> {
          if (name.startsWith(WILDCARD)) {
            wildcards.put(name.substring(WILDCARD.length()), value);
          } else {
            exact.put(name, value);
          }
        });
    return new ServerNames<>(Map.copyOf(exact), Map.copyOf(wildcards), byDefault);
  }

  /** What belongs to this name, in lower case; null stands for a client that named none. */
  T find(@Nullable String name) {
    if (name == null) {
      return byDefault;
    }
    T found = exact.get(name);
    int dot = name.indexOf('.');
    if (found == null && dot > 0) {
      found = wildcards.get(name.substring(dot + 1));
    }
    return found == null ? byDefault : found;
  }
}
