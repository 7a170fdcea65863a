package io.kamille.cache.key;

import io.kamille.core.http.RequestHead;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * What stored responses are found by (RFC 9111 §2): 128 bits that stand for the target URI.
 *
 * <p>The key covers scheme, host in lower case, port, path and query, so that URIs that are
 * equivalent by scheme-based normalisation (RFC 9110 §4.2.3) share one; percent-encoding is left as
 * it is. Where a route has rules for queries ({@link QueryRules}), it covers the query they make.
 * Where a route takes only some of the requests for a URI, it covers the route's name ({@link
 * RequestHead#partition}). The method is not part of it, because only responses to GET are stored.
 * Request fields are no part of it: under one key, they tell variants apart ({@code
 * SelectingFields}, {@code VaryBy}). A secret goes in ({@link HashSecret}), so that nobody outside
 * can make two targets meet; keys mean nothing to a process with another one.
 *
 * <p>Immutable once made, but for the one inside a {@link CacheKeyProbe}.
 */
public final class CacheKey {

  private long high;
  private long low;

  CacheKey(long high, long low) {
    set(high, low);
  }

  /** For the probe alone. */
  void set(long high, long low) {
    this.high = high;
    this.low = low;
  }

  /** The key with these halves, as somebody wrote it down. */
  public static CacheKey of(long high, long low) {
    return new CacheKey(high, low);
  }

  /** The key of the request's target URI. */
  public static CacheKey of(RequestHead request) {
    return new CacheKeyProbe().keyOf(request);
  }

  /** The key of a URI that {@link #request} is made of; null of others. */
  public static @Nullable CacheKey find(String uri) {
    RequestHead request = request(uri);
    return request == null ? null : of(request);
  }

  /**
   * A GET of an absolute http or https URI, as a person or a {@code Location} field gives it,
   * without its fragment; null if no request can have that target URI ({@link
   * NormalUri#of(String)}).
   */
  public static @Nullable RequestHead request(String uri) {
    int fragment = uri.indexOf('#');
    String normal = NormalUri.of(fragment < 0 ? uri : uri.substring(0, fragment));
    return normal == null ? null : RequestHead.of("GET", normal);
  }

  /** The same key in an object of its own, which may be stored. */
  public CacheKey copy() {
    return new CacheKey(high, low);
  }

  /** The first half of the key. */
  public long high() {
    return high;
  }

  /** The second half of the key. */
  public long low() {
    return low;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CacheKey key && high == key.high && low == key.low;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(low);
  }

  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }
}
