package io.kamille.cache.tiers;

import io.kamille.cache.serve.ReplyHandover;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A request that waits for the disk. Confined to its loop, but for {@link #tell}. */
final class HeldRequest implements ContentSource {

  /** Nobody who waits. */
  static final HeldRequest NOBODY = new HeldRequest(null, (_, _) -> {}, () -> {}, _ -> false);

  private final @Nullable Exchange exchange;
  private final @Nullable ReplyHandover client;
  private final Onward onward;
  private final Runnable late;
  private final Predicate<HeldRequest> lookAgain;
  private @Nullable Future<?> deadline;
  private boolean isDone;

  /**
   * A request to be held.
   *
   * @param late told when it has waited too long
   * @param lookAgain has the disk read again for this request; false if it goes on without
   */
  HeldRequest(
      @Nullable Exchange exchange, Onward onward, Runnable late, Predicate<HeldRequest> lookAgain) {
    this.client = exchange == null ? null : ReplyHandover.of(exchange.reply());
    this.exchange = exchange == null || client == null ? null : exchange.behind(client);
    this.onward = onward;
    this.late = late;
    this.lookAgain = lookAgain;
  }

  /** Begins to wait. */
  void begin(long limitNanos) {
    Exchange held = Objects.requireNonNull(exchange);
    deadline = held.loop().schedule(this::expire, limitNanos, TimeUnit.NANOSECONDS);
    Objects.requireNonNull(client).open(this);
  }

  /**
   * The disk has been read. Any thread.
   *
   * @param found takes over one lease, if there is a response
   * @param isCurrent whether it may be used still, when the loop comes to it
   * @param isThereAnother whether the disk seems to have another response, for such a request
   */
  void tell(
      @Nullable StoredResponse found,
      BooleanSupplier isCurrent,
      Predicate<RequestHead> isThereAnother) {
    Exchange held = exchange;
    if (held == null || !execute(held.loop(), () -> goOn(held, found, isCurrent, isThereAnother))) {
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

  private void goOn(
      Exchange held,
      @Nullable StoredResponse found,
      BooleanSupplier isCurrent,
      Predicate<RequestHead> isThereAnother) {
    boolean isUsable = !isDone && isCurrent.getAsBoolean();
    boolean isForAnother = isUsable && isThereAnother.test(held.request());
    if (!isUsable || isForAnother) {
      release(found);
    }
    if (!isDone && !(isForAnother && lookAgain.test(this))) {
      end();
      onward.goOn(held, isUsable && !isForAnother ? found : null);
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
