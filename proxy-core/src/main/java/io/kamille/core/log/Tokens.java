package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;

/** The words of cache results and failures, and numbers for them that fit an octet. */
final class Tokens {

  private static final CacheResult[] CACHE_RESULTS = CacheResult.values();
  private static final Failure.Kind[] FAILURES = Failure.Kind.values();

  private Tokens() {}

  @SuppressWarnings("EnumOrdinal") // a number for a record in memory; never stored or sent
  static int code(CacheResult result) {
    return result.ordinal();
  }

  @SuppressWarnings("EnumOrdinal") // a number for a record in memory; never stored or sent
  static int code(Failure.Kind kind) {
    return kind.ordinal();
  }

  /** For example {@code stale-hit}; empty if the route has no cache. */
  static String cacheResult(int code) {
    CacheResult result = CACHE_RESULTS[code];
    return result == CacheResult.NONE ? "" : result.token();
  }

  /** The error token of RFC 9209. */
  static String failure(int code) {
    return FAILURES[code].token();
  }
}
