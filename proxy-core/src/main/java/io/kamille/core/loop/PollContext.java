package io.kamille.core.loop;

import io.netty.channel.IoHandlerContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a paced handler tells the one that it paces, while that one polls: whether it may block, and
 * until when. Confined to its loop.
 */
final class PollContext implements IoHandlerContext {

  /*
   * The handler asks shouldReportActiveIoTime() at one moment only: when its wait is over and
   * before it handles events. That is where a turn begins.
   */
  private final Runnable returned;
  private @Nullable IoHandlerContext outer;
  private boolean mayBlock;
  private boolean hasReturned;

  /** A context that calls {@code returned} as soon as a poll has returned. */
  PollContext(Runnable returned) {
    this.returned = returned;
  }

  /** The context of the next poll, within that of the loop. */
  PollContext over(IoHandlerContext loop, boolean block) {
    outer = loop;
    mayBlock = block;
    hasReturned = false;
    return this;
  }

  /** Whether the wait was over at a moment that the handler has told of. */
  boolean hasReturned() {
    return hasReturned;
  }

  private IoHandlerContext outer() {
    return Objects.requireNonNull(outer);
  }

  @Override
  public boolean canBlock() {
    return mayBlock && outer().canBlock();
  }

  @Override
  public long delayNanos(long currentTimeNanos) {
    return outer().delayNanos(currentTimeNanos);
  }

  @Override
  public long deadlineNanos() {
    return outer().deadlineNanos();
  }

  @Override
  public boolean shouldReportActiveIoTime() {
    hasReturned = true;
    returned.run();
    return false;
  }
}
