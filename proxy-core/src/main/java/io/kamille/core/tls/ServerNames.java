package io.kamille.core.tls;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds what belongs to a server name: the exact one, then the wildcard of its first label (RFC
 * 9525 §6.3), then the default. Immutable; any thread.
 *
 * @param byName what each name belongs to, in lower case; some begin with {@code *.}
 * @param byDefault for a client that names no server, or one we do not know
 */
record ServerNames<T>(Map<String, T> byName, T byDefault) {

  ServerNames {
    byName = Map.copyOf(byName);
  }

  /** What belongs to this name, in lower case; null stands for a client that named none. */
  T find(@Nullable String name) {
    if (name == null) {
      return byDefault;
    }
    T found = byName.get(name);
    return found == null ? byName.getOrDefault(wildcard(name), byDefault) : found;
  }

  /**
   * The name that stands for this one and others with another first label; itself if it has one.
   */
  static String wildcard(String name) {
    int dot = name.indexOf('.');
    return dot > 0 ? "*" + name.substring(dot) : name;
  }
}
