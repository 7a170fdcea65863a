package io.kamille.cache.promotion;

import io.kamille.cache.serve.ReplyHandover;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.failure.Failure;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A request that waits for the disk. Confined to its loop, but for {@link #tell}. */
final class HeldRequest implements ContentSource {

  /** Nobody who waits. */
  static final HeldRequest NOBODY = new HeldRequest(null, (_, _) -> {}, () -> {});

  private final @Nullable Exchange exchange;
  private final DiskLookups.Onward onward;
  private final Runnable late;
  private @Nullable Future<?> deadline;
  private boolean isDone;

  /**
   * A request to be held.
   *
   * @param late told when it has waited too long
   */
  HeldRequest(@Nullable Exchange exchange, DiskLookups.Onward onward, Runnable late) {
    this.exchange = exchange;
    this.onward = onward;
    this.late = late;
  }

  /** Begins to wait. */
  void begin(Exchange exchange, long limitNanos) {
    deadline = exchange.loop().schedule(this::expire, limitNanos, TimeUnit.NANOSECONDS);
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    exchange.reply(client);
    client.open(this);
  }

  /**
   * The disk has been read. Any thread.
   *
   * @param found takes over one lease, if there is a response
   * @param isCurrent whether it may be used still, when the loop comes to it
   */
  void tell(@Nullable StoredResponse found, BooleanSupplier isCurrent) {
    Exchange held = exchange;
    if (held == null || !execute(held.loop(), () -> goOn(held, found, isCurrent))) {
      release(found);
    }
  }

  private static boolean execute(EventLoop loop, Runnable task) {
    try {
      loop.execute(task);
      return true;
    } catch (RejectedExecutionException atItsEnd) {
      return false;
    }
  }

  private void goOn(Exchange held, @Nullable StoredResponse found, BooleanSupplier isCurrent) {
    boolean isUsable = !isDone && isCurrent.getAsBoolean();
    if (!isUsable) {
      release(found);
    }
    if (!isDone) {
      end();
      onward.goOn(held, isUsable ? found : null);
    }
  }

  private void expire() {
    Exchange held = exchange;
    if (!isDone && held != null) {
      end();
      late.run();
      onward.goOn(held, null);
    }
  }

  private void end() {
    isDone = true;
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  private static void release(@Nullable StoredResponse found) {
    if (found != null) {
      found.release();
    }
  }

  @Override
  public void pause() {}

  @Override
  public void resume() {}

  @Override
  public void cancel(Failure why) {
    end();
  }
}
