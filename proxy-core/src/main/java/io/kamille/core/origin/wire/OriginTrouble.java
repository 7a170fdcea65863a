package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.tls.HandshakeTrouble;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** What went wrong on the connection to an origin, and how it is said. Confined to its loop. */
public final class OriginTrouble {

  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final String origin;
  private @Nullable Throwable cause;

  /** Nothing went wrong yet with {@code origin}. */
  public OriginTrouble(String origin) {
    this.origin = origin;
  }

  /** Another request begins. */
  public void forget() {
    cause = null;
  }

  /** This was thrown; a fault of ours is logged. */
  public void caught(Throwable thrown) {
    cause = HandshakeTrouble.unwrapped(thrown);
    if (isOurs()) {
      LOG.log(Level.ERROR, "a fault of ours on the connection to " + origin, thrown);
    }
  }

  public boolean isNone() {
    return cause == null;
  }

  /** Whether it is not the socket's, and so says nothing of the origin. */
  public boolean isOurs() {
    return cause != null && !(cause instanceof IOException);
  }

  /** The connection is closed {@code where} nobody expected it. */
  public Failure closed(ErrorType kind, String where) {
    HandshakeTrouble ofTls = cause == null ? null : HandshakeTrouble.of(cause, origin);
    if (ofTls != null) {
      return failure(ofTls.kind(), ofTls.reason() + where);
    }
    return failure(kind, (isNone() ? "closed the connection" : "broke the connection") + where);
  }

  /** The origin did this. */
  public Failure failure(ErrorType kind, String what) {
    return Failure.of(kind, origin + " " + what);
  }
}
