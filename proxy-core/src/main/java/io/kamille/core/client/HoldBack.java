package io.kamille.core.client;

import java.util.concurrent.TimeUnit;

/**
 * For some seconds no request of a client that was shed is taken. Confined to its loop.
 *
 * <p>The first that it sends meanwhile waits here, unread, and the rest with the kernel. A client
 * that obeys and sends nothing costs nothing: neither a timer nor a change of what the kernel tells
 * of its socket.
 */
public final class HoldBack {

  private final ServerShard shared;
  private final Runnable letGo;
  private long untilNanos;
  private boolean isOn;
  private boolean isTimed;

  /**
   * Nobody is held back yet.
   *
   * @param letGo called when it is over, if somebody asked in between
   */
  public HoldBack(ServerShard shared, Runnable letGo) {
    this.shared = shared;
    this.letGo = letGo;
  }

  /** Begins, and lasts so long from now. */
  public void begin(long nanos) {
    isOn = true;
    untilNanos = shared.nowNanos() + nanos;
  }

  /** Whether nothing is taken now; if so, {@code letGo} will be called. */
  public boolean holds() {
    if (!isOn) {
      return false;
    }
    long left = untilNanos - shared.nowNanos();
    if (left <= 0) {
      isOn = false;
    } else if (!isTimed) {
      isTimed = true;
      shared.loop().schedule(this::end, left, TimeUnit.NANOSECONDS);
    }
    return isOn;
  }

  private void end() {
    isTimed = false;
    isOn = false;
    letGo.run();
  }

  /** When it ended, or will end: since then the client's next request could be looked at. */
  public long untilNanos() {
    return untilNanos;
  }
}
