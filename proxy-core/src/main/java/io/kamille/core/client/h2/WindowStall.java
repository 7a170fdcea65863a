package io.kamille.core.client.h2;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.LeastRate;

/**
 * How long content has waited for a window that the client does not open, or opens octet by octet
 * (CVE-2019-9511, CVE-2019-9517). Looked at by the sweep. Confined to its loop.
 */
final class WindowStall {

  private final LeastRate rate;
  private long sentBytes;
  private long movedNanos;

  /** Content waits from now on; so much was sent before. */
  WindowStall(long nowNanos, long sentBytes) {
    this.rate = new LeastRate(nowNanos, sentBytes);
    this.sentBytes = sentBytes;
    this.movedNanos = nowNanos;
  }

  /** Whether nothing was sent for too long, or too little. */
  boolean isTooLong(long nowNanos, long sentBytes, ClientSettings settings) {
    if (sentBytes != this.sentBytes) {
      this.sentBytes = sentBytes;
      movedNanos = nowNanos;
    }
    long least = settings.minBytesPerSecond();
    return nowNanos - movedNanos >= settings.contentTimeout().toNanos()
        || (least > 0
            && rate.isTooSlow(nowNanos, sentBytes, ClientSettings.DOWNLOAD_GRACE_NANOS, least));
  }
}
