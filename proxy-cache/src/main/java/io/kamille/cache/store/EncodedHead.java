package io.kamille.cache.store;

import org.jspecify.annotations.Nullable;

/**
 * What {@link ResponseCodec} says about the octets it wrote.
 *
 * @param status the status code, which is not among the octets
 * @param uriLength octets of the target URI
 * @param length octets of target URI, field lines and empty line
 * @param cacheStatus what Cache-Status said when the response came, or null
 */
public record EncodedHead(int status, int uriLength, int length, @Nullable String cacheStatus) {

  /** The same for a head that was stored before, with what its Cache-Status said then. */
  public EncodedHead withCacheStatus(@Nullable String cacheStatus) {
    return new EncodedHead(status, uriLength, length, cacheStatus);
  }
}
