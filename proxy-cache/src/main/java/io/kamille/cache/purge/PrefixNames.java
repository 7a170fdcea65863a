package io.kamille.cache.purge;

import io.kamille.cache.key.HashSecret;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.key.SipHash;
import java.nio.charset.StandardCharsets;

/** The names of prefixes that end with a segment of a path, each as 64 bits. Stateless. */
final class PrefixNames {

  /*
   * http://a.example/shop/17?x has the segments "a.example/" and "shop/". A prefix is the segments
   * that it consists of, each mixed into the name of those before it, from one of four beginnings:
   * a scheme, both schemes, or any host. A secret goes into each segment (HashSecret).
   */
  private static final long PLAIN = 1;
  private static final long SECURE = 2;
  private static final long ANY_SCHEME = 3;
  private static final long ANY_HOST = 4;

  /** How many segments of a URI count, its host among them. */
  static final int DEPTH = 64;

  /** Told of the names of one segment and those before it. */
  @FunctionalInterface
  interface Names {

    /**
     * A segment.
     *
     * @param exact of the prefix as it is
     * @param anyScheme of the same at both schemes
     * @param anyHost of its path at any host
     */
    void segment(long exact, long anyScheme, long anyHost);
  }

  private PrefixNames() {}

  /** Tells of all prefixes of a normal URI ({@link NormalUri}), the shortest first. */
  static void forEach(String normalUri, Names names) {
    int start = normalUri.indexOf("//") + 2;
    int query = normalUri.indexOf('?');
    int end = query < 0 ? normalUri.length() : query;
    long exact = normalUri.startsWith("https:") ? SECURE : PLAIN;
    long anyScheme = ANY_SCHEME;
    long anyHost = ANY_HOST;
    int slash = normalUri.indexOf('/', start);
    for (int depth = 0; depth < DEPTH && slash >= 0 && slash < end; depth++) {
      long segment = hash(normalUri.substring(start, slash));
      exact = PurgeNumbers.mixed(exact) + segment;
      anyScheme = PurgeNumbers.mixed(anyScheme) + segment;
      anyHost = depth == 0 ? ANY_HOST : PurgeNumbers.mixed(anyHost) + segment;
      names.segment(exact, anyScheme, anyHost);
      start = slash + 1;
      slash = normalUri.indexOf('/', start);
    }
  }

  /**
   * The name of a prefix, as in {@link PurgeTarget}; 0 if it ends within a segment.
   *
   * @param isAnyScheme whether the same is purged at the other scheme
   */
  static long of(String prefix, boolean isAnyScheme) {
    boolean isPath = prefix.startsWith("/");
    String uri = isPath ? "http://h" + prefix : prefix;
    if (!prefix.endsWith("/") || uri.indexOf('?') >= 0) {
      return 0;
    }
    long[] name = {0, 2};
    forEach(
        uri,
        (exact, anyScheme, anyHost) -> {
          name[0] = isPath ? anyHost : isAnyScheme ? anyScheme : exact;
          name[1]++;
        });
    boolean isWhole = name[1] == uri.chars().filter(c -> c == '/').count();
    return isWhole ? name[0] : 0;
  }

  /** The prefix that ends with the segment before the one in which that prefix ends. */
  static String above(String prefix) {
    int query = prefix.indexOf('?');
    String path = query < 0 ? prefix : prefix.substring(0, query);
    int start = path.startsWith("/") ? 0 : path.indexOf('/', path.indexOf("//") + 2);
    int end = start;
    for (int depth = 1; depth < DEPTH; depth++) {
      int next = path.indexOf('/', end + 1);
      if (next < 0) {
        break;
      }
      end = next;
    }
    return path.substring(0, end + 1);
  }

  private static long hash(String segment) {
    SipHash hash = HashSecret.forTags();
    byte[] octets = segment.getBytes(StandardCharsets.ISO_8859_1);
    hash.put((byte) '/');
    hash.put(octets, 0, octets.length);
    hash.finish();
    return hash.high();
  }
}
