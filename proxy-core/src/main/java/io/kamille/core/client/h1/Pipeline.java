package io.kamille.core.client.h1;

import io.kamille.core.client.ServerShard;
import java.util.concurrent.TimeUnit;

/**
 * When the next request of a connection is looked at (RFC 9112 §9.3.2). Confined to its loop.
 *
 * <p>A turn of the loop takes so many heads of one pipeline and no more. Then the loop polls before
 * it goes on, so that no client keeps it from the others, and the requests left are judged by how
 * long they have waited for the loop since.
 *
 * <p>For some seconds no request of a client that was shed is taken. The first that it sends
 * meanwhile waits, unread, and the rest with the kernel. A client that obeys and sends nothing
 * costs nothing: neither a timer nor a change of what the kernel tells of its socket.
 */
final class Pipeline {

  static final int HEADS_PER_TURN = 32;

  private final ServerShard server;
  private final Runnable next;
  private long readySinceNanos;
  private int headsLeft;
  private long heldUntilNanos;
  private boolean isHeld;
  private boolean isTimed;

  /**
   * A pipeline without a request.
   *
   * @param next called when the next request may be looked at
   */
  Pipeline(ServerShard server, Runnable next) {
    this.server = server;
    this.next = next;
  }

  /** The loop comes to this connection. */
  void turnBegins() {
    headsLeft = HEADS_PER_TURN;
  }

  /** Puts the next head off if none may be begun with now: then {@code next} will be called. */
  boolean delayNext() {
    if (delayIfHeld()) {
      return true;
    }
    headsLeft--;
    if (headsLeft >= 0) {
      return false;
    }
    readySinceNanos = server.nowNanos();
    // A timer and not a task: the loop polls before it comes to it.
    server.loop().schedule(next, 1, TimeUnit.NANOSECONDS);
    return true;
  }

  /** Takes no request of this client for so long. */
  void holdBack(long nanos) {
    isHeld = true;
    heldUntilNanos = server.nowNanos() + nanos;
  }

  /** Puts requests off while the client is held back: then {@code next} will be called. */
  boolean delayIfHeld() {
    if (!isHeld) {
      return false;
    }
    long left = heldUntilNanos - server.nowNanos();
    if (left <= 0) {
      isHeld = false;
    } else if (!isTimed) {
      isTimed = true;
      server.loop().schedule(this::letGo, left, TimeUnit.NANOSECONDS);
    }
    return isHeld;
  }

  private void letGo() {
    isTimed = false;
    isHeld = false;
    server.time().update();
    readySinceNanos = heldUntilNanos;
    next.run();
  }

  /** Goes on with the next request soon: within this call a long pipeline would nest as deeply. */
  void planNext() {
    readySinceNanos = server.nowNanos();
    server.loop().execute(next);
  }

  /** The loop comes to a request that has waited for it. */
  void comesToNext() {
    server.comesTo(readySinceNanos);
  }
}
