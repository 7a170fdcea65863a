package io.kamille.cache.tiers;

import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.http.RequestHead;
import io.netty.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A request that waits for the disk. Confined to its loop, but for {@link #tell}. */
final class HeldRequest implements ContentSource {

  private final Exchange exchange;
  private final ReplyHandover client;
  private final BiConsumer<Exchange, @Nullable StoredResponse> then;
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
      Exchange exchange,
      BiConsumer<Exchange, @Nullable StoredResponse> then,
      Runnable late,
      Predicate<HeldRequest> lookAgain) {
    this.client = ReplyHandover.of(exchange.reply());
    this.exchange = exchange.behind(client);
    this.then = then;
    this.late = late;
    this.lookAgain = lookAgain;
  }

  /** Begins to wait. */
  void begin(long limitNanos) {
    deadline = exchange.loop().schedule(this::expire, limitNanos, TimeUnit.NANOSECONDS);
    client.open(this);
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
    try {
      exchange.loop().execute(() -> goOn(found, isCurrent, isThereAnother));
    } catch (RejectedExecutionException atItsEnd) {
      release(found);
    }
  }

  private void goOn(
      @Nullable StoredResponse found,
      BooleanSupplier isCurrent,
      Predicate<RequestHead> isThereAnother) {
    boolean isUsable = !isDone && isCurrent.getAsBoolean();
    boolean isForAnother = isUsable && isThereAnother.test(exchange.request());
    if (!isUsable || isForAnother) {
      release(found);
    }
    if (!isDone && !(isForAnother && lookAgain.test(this))) {
      end();
      then.accept(exchange, isUsable && !isForAnother ? found : null);
    }
  }

  private void expire() {
    if (!isDone) {
      end();
      late.run();
      then.accept(exchange, null);
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
