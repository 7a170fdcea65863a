package io.kamille.perf.soak;

/** Kinds of what the origin has; each has a path of its own, some a route of their own. */
enum Family {
  /** Small and long fresh; some are missing, which is stored too. */
  PAGE("page", 2000, 100, 32 << 10, 600),
  /** Text on a route that compresses. */
  TEXT("text", 300, 1 << 10, 64 << 10, 600),
  /** Three variants, by Accept-Language. */
  VARY("vary", 300, 200, 8 << 10, 600),
  /** Fresh for a second, stale meanwhile while it is validated. */
  SHORT("short", 100, 100, 16 << 10, 1),
  /** Up to more than may be stored. */
  LARGE("large", 60, 256 << 10, 10 << 20, 600),
  /** On a route without a cache. */
  PASS("pass", 100, 0, 64 << 10, 0),
  /** From origins that fail at any point. */
  SHAKY("shaky", 200, 0, 256 << 10, 2);

  /** Of those that have some. */
  static final int VARIANTS = 3;

  private final String path;
  private final int count;
  private final int leastLength;
  private final int mostLength;
  private final int maxAge;

  Family(String path, int count, int leastLength, int mostLength, int maxAge) {
    this.path = path;
    this.count = count;
    this.leastLength = leastLength;
    this.mostLength = mostLength;
    this.maxAge = maxAge;
  }

  static Family ofPath(String path) {
    for (Family family : values()) {
      if (family.path.equals(path)) {
        return family;
      }
    }
    throw new IllegalArgumentException("path: " + path + " (expected: one of Family)");
  }

  /** The first segment of the path. */
  String path() {
    return path;
  }

  /** How many there are. */
  int count() {
    return count;
  }

  int leastLength() {
    return leastLength;
  }

  int mostLength() {
    return mostLength;
  }

  /** The freshness lifetime in seconds; 0 for no-store. */
  int maxAge() {
    return maxAge;
  }

  int variants() {
    return this == VARY ? VARIANTS : 1;
  }
}
