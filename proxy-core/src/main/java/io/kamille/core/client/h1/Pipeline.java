package io.kamille.core.client.h1;

import io.kamille.core.client.HoldBack;
import io.kamille.core.client.ServerShard;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * When the next request of a connection is looked at (RFC 9112 §9.3.2). Confined to its loop.
 *
 * <p>A turn of the loop takes so many heads of one pipeline and no more. Then the loop polls before
 * it goes on, so that no client keeps it from the others, and the requests left are judged by how
 * long they have waited for the loop since.
 */
final class Pipeline {

  static final int HEADS_PER_TURN = 32;

  private final ServerShard shared;
  private final Runnable next;
  private @Nullable HoldBack holdBack;
  private long readySinceNanos;
  private int headsLeft;

  /**
   * A pipeline without a request.
   *
   * @param next called when the next request may be looked at
   */
  Pipeline(ServerShard shared, Runnable next) {
    this.shared = shared;
    this.next = next;
  }

  /** The loop comes to this connection. */
  void turnBegins() {
    headsLeft = HEADS_PER_TURN;
  }

  /** Whether no head may be begun with now; if so, {@code next} will be called. */
  boolean mustWait() {
    if (isHeldBack()) {
      return true;
    }
    headsLeft--;
    if (headsLeft >= 0) {
      return false;
    }
    readySinceNanos = shared.nowNanos();
    // A timer and not a task: the loop polls before it comes to it.
    shared.loop().schedule(next, 1, TimeUnit.NANOSECONDS);
    return true;
  }

  /** Takes no request of this client for a while. */
  void holdBack(long nanos) {
    if (holdBack == null) {
      holdBack = new HoldBack(shared, this::letGo);
    }
    holdBack.begin(nanos);
  }

  /** Whether no request is taken; if so, {@code next} will be called. */
  boolean isHeldBack() {
    return holdBack != null && holdBack.holds();
  }

  private void letGo() {
    shared.time().look();
    if (holdBack != null) {
      readySinceNanos = holdBack.untilNanos();
    }
    next.run();
  }

  /** Goes on with the next request soon: within this call a long pipeline would nest as deeply. */
  void planNext() {
    readySinceNanos = shared.nowNanos();
    shared.loop().execute(next);
  }

  /** The loop comes to a request that has waited for it. */
  void comesToNext() {
    shared.comesTo(readySinceNanos);
  }
}
