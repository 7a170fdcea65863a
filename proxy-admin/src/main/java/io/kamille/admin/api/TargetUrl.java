package io.kamille.admin.api;

import io.kamille.cache.key.CacheKey;

/** The URL of a request as a person gives it. Stateless; any thread. */
final class TargetUrl {

  private static final String NO_TARGET =
      "url must begin with http:// or https://, have a host, at most a port from 0 to 65535 behind"
          + " it and no user information, and be percent-encoded.";

  private TargetUrl() {}

  /** The URL, if a request can have it as its target. */
  static String of(String url) throws InvalidRequest {
    if (url.indexOf('#') >= 0) {
      throw new InvalidRequest("url must have no fragment: it is never sent in a request.");
    }
    if (CacheKey.find(url) == null) {
      throw new InvalidRequest(NO_TARGET);
    }
    return url;
  }
}
