package io.kamille.core.server.h1;

/**
 * How fast a client sends the content of one request: it has a grace period, and beyond that the
 * time that the octets so far take at the least rate. Time in which we do not read does not count.
 * Confined to its loop.
 */
final class UploadPace {

  /*
   * The rule of Apache's mod_reqtimeout (body=20,MinRate=500). A time-out that begins anew with
   * every octet bounds nothing: one octet every 29 seconds keeps a connection, and an origin, for
   * ever.
   */
  private static final double NANOS_PER_SECOND = 1e9;

  private long startNanos;
  private long heldSinceNanos;
  private long heldNanos;
  private long octets;
  private boolean begun;
  private boolean held;

  /** From now on the client may send. */
  void begin(long nowNanos) {
    if (!begun) {
      begun = true;
      startNanos = nowNanos;
    }
  }

  /** We read no more for now. */
  void hold(long nowNanos) {
    if (begun && !held) {
      held = true;
      heldSinceNanos = nowNanos;
    }
  }

  /** We read again. */
  void release(long nowNanos) {
    if (held) {
      held = false;
      heldNanos += nowNanos - heldSinceNanos;
    }
  }

  void arrived(int octets) {
    this.octets += octets;
  }

  /**
   * Whether the client is behind.
   *
   * @param bytesPerSecond the least rate; 0 for none
   */
  boolean isTooSlow(long nowNanos, long graceNanos, long bytesPerSecond) {
    if (!begun || held || bytesPerSecond == 0) {
      return false;
    }
    long beyondGrace = nowNanos - startNanos - heldNanos - graceNanos;
    return beyondGrace > 0 && beyondGrace / NANOS_PER_SECOND * bytesPerSecond > octets;
  }
}
