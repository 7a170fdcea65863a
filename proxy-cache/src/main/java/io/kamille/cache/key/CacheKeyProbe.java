package io.kamille.cache.key;

import io.kamille.core.http.Authority;
import io.kamille.core.http.RequestHead;

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
}
