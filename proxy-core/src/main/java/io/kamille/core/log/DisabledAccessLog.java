package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeObserver;

/** The access log that notes nothing. */
enum DisabledAccessLog implements AccessLog {
  INSTANCE;

  @Override
  public ExchangeObserver forLoop() {
    return ExchangeObserver.NONE;
  }

  @Override
  public void reopen() {}

  @Override
  public void close() {}
}
