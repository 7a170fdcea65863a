package io.kamille.core.origin.choose;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import org.jspecify.annotations.Nullable;

/** Sends a part of the requests another way, those of one key always the same. Any thread. */
public final class SplitHandler implements ExchangeHandler {

  /*
   * It stands before the cache. What the other upstream answers is neither stored nor taken from
   * the store: else one client would see both versions, and everybody the new one.
   */
  private final ExchangeHandler usual;
  private final ExchangeHandler other;
  private final SplitSettings settings;

  private SplitHandler(ExchangeHandler usual, ExchangeHandler other, SplitSettings settings) {
    this.usual = usual;
    this.other = other;
    this.settings = settings;
  }

  /** A handler for the whole: {@code usual} itself where there is no other. */
  public static ExchangeHandler of(
      SplitSettings settings, ExchangeHandler usual, @Nullable ExchangeHandler other) {
    return other == null ? usual : new SplitHandler(usual, other, settings);
  }

  @Override
  public void handle(Exchange exchange) {
    boolean isOther = settings.takes(exchange.request(), exchange.client().getAddress());
    (isOther ? other : usual).handle(exchange);
  }
}
