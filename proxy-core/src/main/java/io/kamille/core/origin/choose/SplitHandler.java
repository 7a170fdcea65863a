package io.kamille.core.origin.choose;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.origin.HashKey;
import org.jspecify.annotations.Nullable;

/** Sends a part of the requests another way, those of one key always the same. Any thread. */
public final class SplitHandler implements ExchangeHandler {

  /*
   * A key is a number between 0 and 1, the same in each process and after each reload. Keys below
   * the share go the other way: a greater share adds keys and takes none back.
   *
   * It stands before the cache. What the other upstream answers is neither stored nor taken from
   * the store: else one client would see both versions, and everybody the new one.
   */
  private final ExchangeHandler usual;
  private final ExchangeHandler other;
  private final HashKey key;
  private final double share;

  private SplitHandler(ExchangeHandler usual, ExchangeHandler other, SplitSettings settings) {
    this.usual = usual;
    this.other = other;
    this.key = settings.key();
    this.share = settings.share();
  }

  /** A handler for the whole: {@code usual} itself where there is no other. */
  public static ExchangeHandler of(
      SplitSettings settings, ExchangeHandler usual, @Nullable ExchangeHandler other) {
    return other == null ? usual : new SplitHandler(usual, other, settings);
  }

  @Override
  public void handle(Exchange exchange) {
    (isOther(exchange) ? other : usual).handle(exchange);
  }

  private boolean isOther(Exchange exchange) {
    return (HashKey.mix(key.of(exchange)) >>> 11) * 0x1.0p-53 < share;
  }
}
