package io.kamille.cache.station;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OtherNodes;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.Reason;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The method {@code PURGE}, which many applications know: it removes what is stored for its target
 * URI, all variants. Stands in front of the router. Any loop.
 *
 * <p>While some clients may use it, it is ours on every route, cached or not, and no origin sees
 * it; who else sends it is refused. While nobody may, it is a method like any other.
 */
public final class PurgeMethod implements ExchangeHandler {

  private static final String NAME = "PURGE";

  private final ExchangeHandler router;
  private final Predicate<RequestHead> hasRoute;
  private final Removals removals;
  private final RouteQueries queries;
  private final AtomicReference<List<AddressRange>> clients = new AtomicReference<>(List.of());

  public PurgeMethod(
      ExchangeHandler router,
      Predicate<RequestHead> hasRoute,
      Removals removals,
      RouteQueries queries) {
    this.router = router;
    this.hasRoute = hasRoute;
    this.removals = removals;
    this.queries = queries;
  }

  /** Clients with these addresses may use it from the next exchange on. Any thread. */
  public void allow(List<AddressRange> ranges) {
    clients.setRelease(List.copyOf(ranges));
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request();
    if (request.method() != Method.OTHER || !isOurs(request)) {
      router.handle(exchange);
    } else if (isAllowed(exchange.client().getAddress())) {
      purge(exchange, NormalUri.of(request));
    } else {
      exchange.reply().fail(Failure.of(Kind.HTTP_REQUEST_DENIED, "PURGE is not for this client"));
    }
  }

  /** Here, and at other nodes if there are any. */
  private void purge(Exchange exchange, @Nullable String uri) {
    KeptAnswer answer = new KeptAnswer(exchange);
    exchange.reply().open(answer);
    OtherNodes nodes = removals.others();
    PurgeTarget target = nodes == null || uri == null ? null : PurgeTarget.url(uri);
    if (nodes != null && target != null) {
      nodes.purge(target, answer::purged);
    } else {
      int count = removals.remove(queries.keysOf(exchange.request()));
      removals.whenKept(() -> answer.purged(StatusCode.OK, count));
    }
  }

  /** The router has answers for what has no route. */
  private boolean isOurs(RequestHead request) {
    return !clients.getAcquire().isEmpty()
        && request.methodText().equals(NAME)
        && hasRoute.test(request);
  }

  private boolean isAllowed(@Nullable InetAddress client) {
    return client != null
        && clients.getAcquire().stream().anyMatch(range -> range.contains(client));
  }

  /** An answer that waits until what was removed is removed for later processes too. */
  private static final class KeptAnswer implements ContentSource {

    private final Exchange exchange;
    private int status;
    private long count;
    private boolean isCancelled;

    KeptAnswer(Exchange exchange) {
      this.exchange = exchange;
    }

    /** On any thread. */
    void purged(int status, long count) {
      this.status = status;
      this.count = count;
      if (exchange.loop().inEventLoop()) {
        send();
      } else if (!exchange.loop().isShuttingDown()) {
        exchange.loop().execute(this::send);
      }
    }

    private void send() {
      if (!isCancelled) {
        answer(exchange.reply(), status, count);
      }
    }

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      isCancelled = true;
    }
  }

  private static void answer(Reply reply, int status, long count) {
    byte[] text = ("purged: " + count + "\n").getBytes(StandardCharsets.US_ASCII);
    reply.head(
        ResponseHead.of(
            status, "Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"),
        text.length);
    reply.write(Unpooled.wrappedBuffer(text));
    reply.end(null);
  }

  /** What would become of this request, and why; null if it is the router's. Any thread. */
  public @Nullable Explanation explain(RequestHead request) {
    if (!isOurs(request)) {
      return null;
    }
    Map<CacheKey, RequestHead> targets = queries.filtered(request);
    Reason reason =
        new Reason(
            "purge",
            "cache.purge-from",
            "responses stored under the key: " + removals.count(targets.keySet()),
            "clients that may purge remove them, others are refused: 403 (Forbidden)");
    String uri = NormalUri.of(targets.values().iterator().next());
    return new Explanation(Decision.PURGE, null, uri, List.of(reason));
  }
}
