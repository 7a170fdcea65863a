package io.kamille.cache.key;

import io.kamille.core.http.Authority;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Target URIs as text, with scheme and authority in the normal form that cache keys are made of, so
 * that one can be said to begin with another. Path and query stay as they are. Stateless; any
 * thread.
 */
public final class NormalUri {

  private NormalUri() {}

  /**
   * The normal form of an absolute http or https URI; null if no request can have it as its target:
   * its authority is a host with an optional port (RFC 9110 §4.2), all of it is visible ASCII, and
   * it has no fragment.
   */
  public static @Nullable String of(String uri) {
    if (!uri.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#')) {
      return null;
    }
    byte[] octets = Fields.octetsOf(uri);
    boolean isSecure = Octets.equalsIgnoreCase(octets, 0, Math.min(8, octets.length), "https://");
    boolean isPlain = Octets.equalsIgnoreCase(octets, 0, Math.min(7, octets.length), "http://");
    int start = isSecure ? 8 : 7;
    int end = start;
    while (end < octets.length && octets[end] != '/' && octets[end] != '?') {
      end++;
    }
    if (!(isSecure || isPlain) || !Authority.isValid(octets, start, end)) {
      return null;
    }
    return of(isSecure, octets, start, end, uri.substring(end));
  }

  /** The normal form of the request's target URI. */
  public static String of(RequestHead request) {
    return of(request, request.pathAndQuery());
  }

  /** What the URIs of the request's origin begin with (RFC 9110 §4.3.1). */
  public static String originOf(RequestHead request) {
    return of(request, "/");
  }

  private static String of(RequestHead request, String target) {
    return of(
        request.isSecure(),
        request.octets(),
        request.authorityStart(),
        request.authorityEnd(),
        target);
  }

  private static String of(boolean isSecure, byte[] octets, int start, int end, String target) {
    String authority =
        new String(Authority.normal(octets, start, end, isSecure), StandardCharsets.ISO_8859_1);
    String slash = target.startsWith("/") ? "" : "/";
    return (isSecure ? "https://" : "http://") + authority + slash + target;
  }
}
