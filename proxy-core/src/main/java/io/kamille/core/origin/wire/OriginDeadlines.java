package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.origin.ConnectionSettings;
import java.time.Duration;

/** Whether an origin is late with what is awaited of it. Confined to its loop. */
public final class OriginDeadlines {

  /*
   * Deadlines are looked at by the tick of the pool. Reads and writes only leave a mark, so that no
   * clock is read for a chunk: the time of quiet begins at the first tick that finds no mark. The
   * response head has a deadline that nothing the origin sends moves; it counts while it is the
   * origin's turn: from the first tick that finds the request sent, or the head begun.
   */

  /** What is awaited. */
  public enum Awaited {
    NOTHING,
    /** The client: nothing is to be had of the origin meanwhile. */
    CLIENT,
    /** A {@code 100 (Continue)}, which need not come. */
    CONTINUE,
    HEAD,
    /** That the origin takes the request's content. */
    UPLOAD,
    CONTENT,
    TUNNEL
  }

  private final ConnectionSettings settings;
  private boolean hasMoved;
  private boolean isOriginsTurn;
  private long quietSinceNanos;
  private long turnSinceNanos;

  public OriginDeadlines(ConnectionSettings settings) {
    this.settings = settings;
  }

  /** Something was read or written. */
  public void moved() {
    hasMoved = true;
  }

  /** What the origin has to do next begins. */
  public void begin() {
    hasMoved = true;
    isOriginsTurn = false;
  }

  /** Whether what is awaited is late. */
  public boolean isLate(Awaited awaited, long nowNanos) {
    if (awaited == Awaited.HEAD || awaited == Awaited.CONTINUE) {
      return isTurnLongerThan(
          awaited == Awaited.HEAD ? settings.headTimeout() : settings.continueTimeout(), nowNanos);
    }
    isOriginsTurn = false;
    if (hasMoved) {
      hasMoved = false;
      quietSinceNanos = nowNanos;
      return false;
    }
    long quietNanos = nowNanos - quietSinceNanos;
    return switch (awaited) {
      case UPLOAD, CONTENT -> quietNanos >= settings.contentTimeout().toNanos();
      case TUNNEL -> quietNanos >= settings.tunnelTimeout().toNanos();
      case CLIENT -> {
        hasMoved = true;
        yield false;
      }
      case NOTHING, CONTINUE, HEAD -> false;
    };
  }

  private boolean isTurnLongerThan(Duration limit, long nowNanos) {
    if (!isOriginsTurn) {
      isOriginsTurn = true;
      turnSinceNanos = nowNanos;
      return false;
    }
    return nowNanos - turnSinceNanos >= limit.toNanos();
  }

  /** Why the exchange fails that waited in vain for a head, or for content to move. */
  public Failure failure(Awaited awaited, String origin) {
    return switch (awaited) {
      case HEAD ->
          Failure.of(
              ErrorType.HTTP_RESPONSE_TIMEOUT,
              origin
                  + " sent no complete response head in "
                  + settings.headTimeout().toMillis()
                  + " ms");
      case UPLOAD -> late(ErrorType.CONNECTION_WRITE_TIMEOUT, origin + " took no content");
      case CONTENT -> late(ErrorType.CONNECTION_READ_TIMEOUT, origin + " sent no content");
      case NOTHING, CLIENT, CONTINUE, TUNNEL ->
          throw new IllegalArgumentException("awaited: " + awaited + " (expected: of the origin)");
    };
  }

  private Failure late(ErrorType kind, String what) {
    return Failure.of(kind, what + " for " + settings.contentTimeout().toMillis() + " ms");
  }
}
