package io.kamille.cache.key;

import io.kamille.core.http.Authority;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Works out cache keys in place, without garbage. Confined to its loop.
 *
 * <p>The key it answers is its own and changes with the next request: good for looking up, never to
 * be stored. Store {@link CacheKey#copy}.
 */
public final class CacheKeyProbe {

  /*
   * Hashed in this order: one octet for the scheme, host and port in the normal form in which the
   * origin is told them, and path and query, which begin with a slash. No host or port has a slash
   * in it, so no two targets give one input.
   * The partition, if there is one, stands behind an octet that no target has. The method is left out: what a GET has stored answers
   * a HEAD.
   */
  private final SipHash hash;
  private final CacheKey key = new CacheKey(0, 0);
  private byte[] authority = new byte[256];

  /** Works out the keys of this process. */
  public CacheKeyProbe() {
    this(HashSecret.forKeys());
  }

  private CacheKeyProbe(SipHash hash) {
    this.hash = hash;
  }

  /** Works out keys by another secret, which find nothing that is stored. */
  public static CacheKeyProbe of(long high, long low) {
    return new CacheKeyProbe(new SipHash(high, low));
  }

  /** The key of the request's target URI, until the next call. */
  public CacheKey keyOf(RequestHead request) {
    byte[] octets = request.octets();
    putOrigin(request.isSecure(), octets, request.authorityStart(), request.authorityEnd());
    putTarget(octets, request.pathStart(), request.queryEnd());
    if (request.partition() != null) {
      putPartition(request.partition());
    }
    return finish();
  }

  /** A GET of a URI that {@link #find} finds; null of others. */
  @Nullable RequestHead request(String uri) {
    return find(uri) == null ? null : RequestHead.of("GET", withPath(uri));
  }

  /** A valid URI with its scheme in lower case, a path, and no fragment. */
  private static String withPath(String uri) {
    int authorityStart = uri.indexOf("://") + 3;
    byte[] octets = Fields.octetsOf(uri);
    int authorityEnd = indexOfAny(octets, authorityStart, "/?#");
    String target = uri.substring(authorityEnd, indexOfAny(octets, authorityEnd, "#"));
    return uri.substring(0, authorityStart).toLowerCase(Locale.ROOT)
        + uri.substring(authorityStart, authorityEnd)
        + (target.startsWith("/") ? "" : "/")
        + target;
  }

  /**
   * The key of an absolute http or https URI, until the next call; null if it is none that a client
   * could ask for: its authority is a host with an optional port (RFC 9110 §4.2), and all of it is
   * visible ASCII, as in a request target. A fragment is left out.
   */
  public @Nullable CacheKey find(String uri) {
    if (!uri.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      return null;
    }
    byte[] octets = Fields.octetsOf(uri);
    boolean isSecure = Octets.equalsIgnoreCase(octets, 0, Math.min(8, octets.length), "https://");
    boolean isPlain = Octets.equalsIgnoreCase(octets, 0, Math.min(7, octets.length), "http://");
    int authorityStart = isSecure ? 8 : 7;
    int authorityEnd = indexOfAny(octets, authorityStart, "/?#");
    if (!(isSecure || isPlain) || !Authority.isValid(octets, authorityStart, authorityEnd)) {
      return null;
    }
    putOrigin(isSecure, octets, authorityStart, authorityEnd);
    putTarget(octets, authorityEnd, indexOfAny(octets, authorityEnd, "#"));
    return finish();
  }

  private void putOrigin(boolean isSecure, byte[] octets, int start, int end) {
    if (authority.length < end - start) {
      authority = new byte[end - start];
    }
    int length = Authority.copyNormal(octets, start, end, isSecure, authority, 0);
    hash.begin();
    hash.put((byte) (isSecure ? 's' : 'p'));
    hash.put(authority, 0, length);
  }

  private void putTarget(byte[] octets, int start, int end) {
    if (start == end || octets[start] != '/') {
      hash.put((byte) '/');
    }
    hash.put(octets, start, end);
  }

  private void putPartition(String partition) {
    hash.put((byte) 0);
    for (int i = 0; i < partition.length(); i++) {
      hash.put((byte) partition.charAt(i));
    }
  }

  private CacheKey finish() {
    hash.finish();
    key.set(hash.high(), hash.low());
    return key;
  }

  private static int indexOfAny(byte[] octets, int start, String marks) {
    int at = start;
    while (at < octets.length && marks.indexOf(octets[at]) < 0) {
      at++;
    }
    return at;
  }
}
