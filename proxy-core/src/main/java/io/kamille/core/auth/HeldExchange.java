package io.kamille.core.auth;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.ReplyHandover;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * A request that waits until it is known whose it is. Confined to its loop, but for two methods.
 */
final class HeldExchange implements ContentSource {

  private final Exchange exchange;
  private final Consumer<Failure> whenGone;
  // Volatile: set on the loop, read by threads that would check in vain.
  private volatile boolean isGone;

  private HeldExchange(Exchange exchange, Consumer<Failure> whenGone) {
    this.exchange = exchange;
    this.whenGone = whenGone;
  }

  /** Holds a request. */
  static HeldExchange of(Exchange exchange, Consumer<Failure> whenGone) {
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    HeldExchange held = new HeldExchange(exchange.behind(client), whenGone);
    client.open(held);
    return held;
  }

  Exchange exchange() {
    return exchange;
  }

  /** Whether its client has gone away. Any thread. */
  boolean isGone() {
    return isGone;
  }

  /** Goes on with it on its loop, unless its client has gone away. Any thread. */
  void then(Consumer<Exchange> onward) {
    try {
      exchange
          .loop()
          .execute(
              () -> {
                if (!isGone) {
                  onward.accept(exchange);
                }
              });
    } catch (RejectedExecutionException atItsEnd) {
      // The loop is over, and the connection with it.
    }
  }

  @Override
  public void pause() {}

  @Override
  public void resume() {}

  @Override
  public void cancel(Failure why) {
    if (!isGone) {
      isGone = true;
      whenGone.accept(why);
    }
  }
}
