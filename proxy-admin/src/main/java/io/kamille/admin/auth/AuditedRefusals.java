package io.kamille.admin.auth;

import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Takes down who was refused: wrong secrets, and changes beyond a scope. Confined to the control
 * thread.
 */
public final class AuditedRefusals {

  /*
   * Everybody can be refused as often as they like, and the audit log keeps only so many lines. So
   * each minute has ten lines of refusals; the number of all others is one more line.
   */
  private static final int PER_MINUTE = 10;
  private static final System.Logger LOG = System.getLogger("kamille.admin");

  private final AuditLog audit;
  private final WallClock clock;
  private long minute;
  private int written;
  private long unwritten;

  /** Writes to that log. */
  public AuditedRefusals(AuditLog audit, WallClock clock) {
    this.audit = audit;
    this.clock = clock;
  }

  /**
   * Somebody was refused.
   *
   * @param who null for nobody who is known
   * @param status the status code of the answer
   */
  public void add(@Nullable Identity who, String action, String target, int status) {
    long now = clock.epochSeconds() / 60;
    if (now != minute) {
      sum();
      minute = now;
      written = 0;
    }
    if (written >= PER_MINUTE) {
      unwritten++;
      return;
    }
    written++;
    append(who, action, target, Integer.toString(status));
  }

  /** Somebody brought a token, a session or a code that nobody has. */
  public void wrongSecret(Peer peer) {
    add(null, "wrong secret", peer.address(), StatusCode.UNAUTHORIZED);
  }

  private void sum() {
    if (unwritten > 0) {
      append(null, "refusals", unwritten + " more within a minute", "refused");
      unwritten = 0;
    }
  }

  private void append(@Nullable Identity who, String action, String target, String outcome) {
    try {
      audit.append(who, action, target, "", outcome);
    } catch (IOException full) {
      LOG.log(Level.ERROR, "the audit log lacks a refusal", full);
    }
  }
}
