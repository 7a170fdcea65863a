package io.kamille.cache.fill;

import io.kamille.cache.serve.Forwarding;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes a response on that has nothing to do with the store, and says so in Cache-Status. Confined
 * to its loop.
 */
final class PassReply extends PassingReply {

  private final Exchange exchange;
  private final CacheRoute route;
  private final Forwarding forwarding;
  private final Consumer<ResponseHead> observer;

  /**
   * Passes on to the reply of {@code exchange}.
   *
   * @param observer looks at the final head as it passes; borrows it until it returns
   */
  PassReply(
      Exchange exchange, CacheRoute route, Forwarding forwarding, Consumer<ResponseHead> observer) {
    super(exchange.reply());
    this.exchange = exchange;
    this.route = route;
    this.forwarding = forwarding;
    this.observer = observer;
  }

  @Override
  public void interim(ResponseHead head) {
    route.cacheStatus().received(head.fields());
    route.heads().removeTags(head.fields(), exchange.request());
    super.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    route.heads().passed(exchange.request(), head);
    observer.accept(head);
    ResponseHead.Relay relay = head.relay();
    if (relay != null) {
      forwarding.detail(relay.detail());
    }
    route.heads().answer(exchange.request(), head, forwarding);
    return passHead(head, contentLength, whole);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    route.heads().removeTags(trailers, exchange.request());
    super.end(trailers);
  }

  @Override
  public void fail(Failure failure) {
    exchange.notes().cacheStatus(route.cacheStatus().member(forwarding));
    super.fail(failure);
  }
}
