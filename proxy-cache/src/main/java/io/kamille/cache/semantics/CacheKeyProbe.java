package io.kamille.cache.semantics;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * Works out cache keys in place, without garbage. Confined to its loop.
 *
 * <p>The key it answers is its own and changes with the next request: good for looking up, never to
 * be stored. Store {@link CacheKey#copy}.
 */
public final class CacheKeyProbe {

  /*
   * Hashed in this order: one octet for the scheme, four for the port, the host in lower case, and
   * path and query, which begin with a slash as no host does. So no two targets give one input.
   */
  private static final long[] SECRET = new SecureRandom().longs(2).toArray();
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private final SipHash hash = new SipHash(SECRET[0], SECRET[1]);
  private final CacheKey key = new CacheKey(0, 0);

  /** The key of the request's target URI, until the next call. */
  public CacheKey keyOf(RequestHead request) {
    byte[] octets = request.octets();
    putOrigin(request.isSecure(), octets, request.authorityStart(), request.authorityEnd());
    putTarget(octets, request.pathStart(), request.targetEnd());
    return finish();
  }

  /**
   * The key of an absolute http or https URI, until the next call.
   *
   * @throws IllegalArgumentException if it is no such URI
   */
  public CacheKey keyOf(String uri) {
    CacheKey found = find(uri);
    if (found == null) {
      throw new IllegalArgumentException(
          "uri: "
              + uri
              + " (expected: absolute, http or https, with a host, without a user,"
              + " percent-encoded)");
    }
    return found;
  }

  /** The key of an absolute http or https URI, until the next call; null if it is no such URI. */
  @Nullable CacheKey find(String uri) {
    byte[] octets = Fields.octetsOf(uri);
    boolean isSecure = Octets.equalsIgnoreCase(octets, 0, Math.min(8, octets.length), "https://");
    boolean isPlain = Octets.equalsIgnoreCase(octets, 0, Math.min(7, octets.length), "http://");
    int authorityStart = isSecure ? 8 : 7;
    int authorityEnd = indexOfAny(octets, authorityStart, "/?#");
    boolean hasAuthority = (isSecure || isPlain) && authorityEnd > authorityStart;
    boolean hasUser = uri.indexOf('@') >= 0 && uri.indexOf('@') < authorityEnd;
    if (!hasAuthority || hasUser || !uri.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      return null;
    }
    putOrigin(isSecure, octets, authorityStart, authorityEnd);
    putTarget(octets, authorityEnd, indexOfAny(octets, authorityEnd, "#"));
    return finish();
  }

  private void putOrigin(boolean isSecure, byte[] octets, int start, int end) {
    int hostEnd = hostEnd(octets, start, end);
    int defaultPort = isSecure ? HTTPS_PORT : HTTP_PORT;
    int port = port(octets, hostEnd + 1, end, defaultPort);
    hash.begin();
    hash.put((byte) (isSecure ? 's' : 'p'));
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      hash.put((byte) (port >>> shift));
    }
    for (int i = start; i < hostEnd; i++) {
      hash.put(Octets.lower(octets[i]));
    }
  }

  private void putTarget(byte[] octets, int start, int end) {
    if (start == end || octets[start] != '/') {
      hash.put((byte) '/');
    }
    hash.put(octets, start, end);
  }

  private CacheKey finish() {
    hash.finish();
    key.set(hash.high(), hash.low());
    return key;
  }

  /**
   * Where the colon before the port stands, or the end. Colons inside an IP literal do not count.
   */
  private static int hostEnd(byte[] octets, int start, int end) {
    for (int i = end - 1; i >= start && octets[i] != ']'; i--) {
      if (octets[i] == ':') {
        return i;
      }
    }
    return end;
  }

  /** Saturated, so that no number that is no port comes out as one that is. */
  private static int port(byte[] octets, int start, int end, int defaultPort) {
    if (start >= end) {
      return defaultPort;
    }
    long port = 0;
    for (int i = start; i < end; i++) {
      port = Octets.isDigit(octets[i]) ? port * 10 + (octets[i] - '0') : Integer.MAX_VALUE;
      port = Math.min(port, Integer.MAX_VALUE);
    }
    return (int) port;
  }

  private static int indexOfAny(byte[] octets, int start, String marks) {
    int at = start;
    while (at < octets.length && marks.indexOf(octets[at]) < 0) {
      at++;
    }
    return at;
  }
}
