package io.kamille.cache.fill;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Holds an answer back until something is done, but not for long. Confined to the exchange's loop.
 */
final class HeldReply extends PassingReply implements ContentSource {

  static final Duration LONGEST = Duration.ofMillis(200);

  private final Exchange exchange;
  private final Queue<Runnable> held = new ArrayDeque<>();
  private final Queue<ByteBuf> chunks = new ArrayDeque<>();
  private ContentSource source = NONE;
  private boolean isHeld;
  private boolean isPaused;

  HeldReply(Exchange exchange) {
    super(exchange.reply());
    this.exchange = exchange;
  }

  /** Holds back what comes from now on; null for nothing to wait for. */
  void until(@Nullable CompletionStage<?> done) {
    if (done != null && !done.toCompletableFuture().isDone()) {
      isHeld = true;
      exchange.loop().schedule(this::release, LONGEST.toMillis(), TimeUnit.MILLISECONDS);
      done.whenComplete((_, _) -> exchange.loop().execute(this::release));
      source.pause();
    }
  }

  private void release() {
    if (isHeld) {
      isHeld = false;
      for (Runnable next = held.poll(); next != null; next = held.poll()) {
        next.run();
      }
      if (!isPaused) {
        source.resume();
      }
    }
  }

  private void pass(Runnable action) {
    if (isHeld) {
      held.add(action);
    } else {
      action.run();
    }
  }

  @Override
  public void open(ContentSource opened) {
    source = opened;
    super.open(this);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    ResponseHead own = isHeld ? head.copy() : head;
    pass(() -> super.head(own, contentLength));
  }

  @Override
  public void write(ByteBuf chunk) {
    if (isHeld) {
      chunks.add(chunk);
      held.add(() -> super.write(chunks.remove()));
    } else {
      super.write(chunk);
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    Fields own = isHeld && trailers != null ? trailers.copy() : trailers;
    pass(() -> super.end(own));
  }

  @Override
  public void abort(Failure why) {
    pass(() -> super.abort(why));
  }

  @Override
  public void fail(Failure why) {
    pass(() -> super.fail(why));
  }

  /** Also by what is held back: nothing else may take its place. */
  @Override
  public boolean isBegun() {
    return !held.isEmpty() || super.isBegun();
  }

  // From the client

  @Override
  public void pause() {
    isPaused = true;
    source.pause();
  }

  @Override
  public void resume() {
    isPaused = false;
    if (!isHeld) {
      source.resume();
    }
  }

  @Override
  public void cancel(Failure why) {
    isHeld = false;
    held.clear();
    chunks.forEach(ByteBuf::release);
    chunks.clear();
    source.cancel(why);
  }
}
