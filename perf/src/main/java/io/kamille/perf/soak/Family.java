package io.kamille.perf.soak;

import java.util.Locale;

/** Kinds of what the origin has; each has a path of its own, some a route of their own. */
enum Family {
  /** Small and long fresh; some are missing, which is stored too. */
  PAGE(2000, 100, 32 << 10, 600),
  /** Text on a route that compresses. */
  TEXT(300, 1 << 10, 64 << 10, 600),
  /** Three variants, by Accept-Language. */
  VARY(300, 200, 8 << 10, 600),
  /** Fresh for a second, stale meanwhile while it is validated. */
  SHORT(100, 100, 16 << 10, 1),
  /** Up to more than may be stored. */
  LARGE(60, 256 << 10, 10 << 20, 600),
  /** On a route without a cache. */
  PASS(100, 0, 64 << 10, 0),
  /** From origins that fail at any point. */
  SHAKY(200, 0, 256 << 10, 2);

  /** Of those that have some. */
  static final int VARIANTS = 3;

  /** How many there are. */
  final int count;

  final int leastLength;
  final int mostLength;

  /** The freshness lifetime in seconds; 0 for no-store. */
  final int maxAge;

  Family(int count, int leastLength, int mostLength, int maxAge) {
    this.count = count;
    this.leastLength = leastLength;
    this.mostLength = mostLength;
    this.maxAge = maxAge;
  }

  static Family ofPath(String path) {
    return valueOf(path.toUpperCase(Locale.ROOT));
  }

  /** The first segment of the path. */
  String path() {
    return name().toLowerCase(Locale.ROOT);
  }

  int variants() {
    return this == VARY ? VARIANTS : 1;
  }
}
