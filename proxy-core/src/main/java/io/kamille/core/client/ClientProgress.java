package io.kamille.core.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Until when something has to happen on the connection to a client, and whether the client takes
 * what waits for it. Confined to its loop.
 */
public final class ClientProgress {

  /*
   * A client is slow while octets wait for it, be its exchange over or not: each sweep looks
   * whether it takes them fast enough. What it takes is what its side has acknowledged. How the
   * kernel empties a send buffer of megabytes says little: it takes more only once a third of it
   * has gone.
   */
  private static final long NEVER = Long.MAX_VALUE;

  private final ServerShard server;
  private final ClientOutput output;
  private @Nullable LeastRate rate;
  private long deadlineNanos = NEVER;
  private long pendingSeen;
  private long takenSeen;

  /** Of the client that {@code output} goes to. */
  public ClientProgress(ServerShard server, ClientOutput output) {
    this.server = server;
    this.output = output;
  }

  /** Something has to happen in this time from now. */
  public void within(Duration timeout) {
    withinNanos(timeout.toNanos());
  }

  /** As {@link #within}. */
  public void withinNanos(long nanos) {
    deadlineNanos = server.nowNanos() + nanos;
  }

  /** There is no deadline. */
  public void atAnyTime() {
    deadlineNanos = NEVER;
  }

  /** The client has to take something of what waits for it in this time from now. */
  public void moveWithin(Duration timeout) {
    within(timeout);
    pendingSeen = output.pendingBytes();
  }

  /** Whether there is a deadline. */
  public boolean isAwaited() {
    return deadlineNanos != NEVER;
  }

  /** Whether the deadline has passed. */
  public boolean isLate() {
    return deadlineNanos != NEVER && server.nowNanos() - deadlineNanos >= 0;
  }

  /** Whether the client took octets since the last look, however slowly. */
  public boolean hasMoved() {
    long pending = output.pendingBytes();
    if (pending == 0) {
      pendingSeen = 0;
      return false;
    }
    long taken = sampled() ? server.output().acknowledgedBytes() : takenSeen;
    boolean moved = pending != pendingSeen || taken != takenSeen;
    pendingSeen = pending;
    takenSeen = taken;
    return moved;
  }

  /**
   * Whether something waits for the client, and it takes it slower than it must.
   *
   * @param isLast whether nothing will be queued any more; then what the kernel has yet to send
   *     counts, too
   */
  public boolean isTooSlow(boolean isLast) {
    ClientSettings settings = server.settings();
    if (settings.minBytesPerSecond() == 0 || !isAwaited(isLast)) {
      rate = null;
      return false;
    }
    long now = server.nowNanos();
    long grace = ClientSettings.DOWNLOAD_GRACE_NANOS;
    boolean isDue = rate == null || rate.isDue(now, grace);
    if (!isDue || !sampled()) {
      return false;
    }
    takenSeen = server.output().acknowledgedBytes();
    if (rate == null) {
      rate = new LeastRate(now, takenSeen);
      return false;
    }
    return rate.isTooSlow(now, takenSeen, grace, settings.minBytesPerSecond());
  }

  private boolean isAwaited(boolean isLast) {
    return output.isBehind() || (isLast && sampled() && server.output().unsentBytes() > 0);
  }

  /** Whether it is measured how fast the client takes what waits for it. */
  public boolean isMeasured() {
    return rate != null;
  }

  private boolean sampled() {
    return server.output().sample(output.channel());
  }
}
