package io.kamille.cache.rules;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the answer to an unsafe request makes invalid (RFC 9111 §4.4). Stateless; any thread. */
public final class Invalidation {

  private Invalidation() {}

  /**
   * The keys whose stored responses are to be removed, or validated before any use: the target URI,
   * and what {@code Location} and {@code Content-Location} name on the same origin. None if the
   * method is safe or the answer an error.
   *
   * @param keysOf the keys under which responses to such a request are stored
   */
  public static Set<CacheKey> of(
      RequestHead request, ResponseHead response, Function<RequestHead, Set<CacheKey>> keysOf) {
    if (request.method().isSafe() || response.status() < 200 || response.status() >= 400) {
      return Set.of();
    }
    Set<CacheKey> keys = new LinkedHashSet<>();
    keys.addAll(keysOf.apply(request));
    addReferred(request, response.field(FieldName.LOCATION), keysOf, keys);
    addReferred(request, response.field(FieldName.CONTENT_LOCATION), keysOf, keys);
    return keys;
  }

  private static void addReferred(
      RequestHead request,
      @Nullable String reference,
      Function<RequestHead, Set<CacheKey>> keysOf,
      Set<CacheKey> keys) {
    if (reference == null) {
      return;
    }
    String origin = (request.isSecure() ? "https://" : "http://") + request.authority();
    String uri = UriReference.resolve(origin, request.pathAndQuery(), reference);
    RequestHead referred = CacheKey.request(uri);
    if (referred != null && NormalUri.originOf(referred).equals(NormalUri.originOf(request))) {
      keys.addAll(keysOf.apply(referred));
    }
  }
}
