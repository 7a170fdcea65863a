package io.kamille.cache.rules;

import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A cache directive that we heed, and how its value is read (RFC 9111 §5.2). */
public enum Directive {
  /** §5.2.1.1, §5.2.2.1. */
  MAX_AGE(Effect.LIFETIME),
  /** §5.2.2.10. */
  S_MAXAGE(Effect.LIFETIME),
  /** RFC 5861 §3. */
  STALE_WHILE_REVALIDATE(Effect.EXTENSION),
  /** RFC 5861 §4. */
  STALE_IF_ERROR(Effect.EXTENSION),
  /** §5.2.1.2; the greatest int for any. */
  MAX_STALE(Effect.ANY_EXTENSION),
  /** §5.2.1.3. */
  MIN_FRESH(Effect.DEMAND),
  /** §5.2.1.5, §5.2.2.5. */
  NO_STORE(Effect.FORBIDS),
  /** §5.2.1.4, §5.2.2.4; without an argument we can honour. */
  NO_CACHE(Effect.LISTS),
  /** §5.2.2.7; without an argument we can honour. */
  PRIVATE(Effect.LISTS),
  /** §5.2.2.9. */
  PUBLIC(Effect.PERMITS),
  /** §5.2.2.2. */
  MUST_REVALIDATE(Effect.FORBIDS),
  /** §5.2.2.8. */
  PROXY_REVALIDATE(Effect.FORBIDS),
  /** §5.2.2.3. */
  MUST_UNDERSTAND(Effect.PERMITS),
  /** §5.2.1.6, §5.2.2.6. */
  NO_TRANSFORM(Effect.FORBIDS),
  /** RFC 8246. */
  IMMUTABLE(Effect.PERMITS),
  /** §5.2.1.7. */
  ONLY_IF_CACHED(Effect.FORBIDS);

  /** How a value is read; those up to {@link #DEMAND} are seconds. */
  enum Effect {
    LIFETIME,
    EXTENSION,
    ANY_EXTENSION,
    DEMAND,
    FORBIDS,
    PERMITS,
    /** It names the fields that it is about, or forbids for all. */
    LISTS
  }

  /** How many have seconds; they are the first. */
  static final int DELTAS = NO_STORE.ordinal();

  private static final List<Directive> ALL = List.of(values());

  private final String token = name().toLowerCase(Locale.ROOT).replace('_', '-');
  private final Effect kind;

  Directive(Effect kind) {
    this.kind = kind;
  }

  /** The one whose token, in lower case, that is; null if none is. */
  static @Nullable Directive find(Predicate<String> isToken) {
    for (int i = 0; i < ALL.size(); i++) {
      if (isToken.test(ALL.get(i).token)) {
        return ALL.get(i);
      }
    }
    return null;
  }

  Effect kind() {
    return kind;
  }

  int bit() {
    return 1 << ordinal();
  }
}
