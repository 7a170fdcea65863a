package io.kamille.cache.station;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OperatorPurges;
import io.kamille.cache.removal.OtherNodes;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.station.PurgeRequest.Order;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The methods by which content systems purge: {@code PURGE} removes what is stored for its target
 * URI, all variants, or what {@link PurgeRequest} reads in its fields; {@code BAN} and {@code
 * PURGEKEYS} only the latter. Stands in front of the router. Any loop.
 *
 * <p>While some clients may use them, they are ours on every route, cached or not, and no origin
 * sees them; who else sends them is refused. While nobody may, they are methods like any other.
 */
public final class PurgeMethod implements ExchangeHandler {

  private static final String NAME = "PURGE";
  private static final Set<String> BY_FIELDS = Set.of("BAN", "PURGEKEYS");

  private final ExchangeHandler router;
  private final Predicate<RequestHead> hasRoute;
  private final Removals removals;
  private final RouteQueries queries;
  private final OperatorPurges purges;
  private final AtomicReference<Rules> rules =
      new AtomicReference<>(new Rules(List.of(), TagFields.USUAL));

  private record Rules(List<AddressRange> clients, TagFields fields) {}

  public PurgeMethod(
      ExchangeHandler router,
      Predicate<RequestHead> hasRoute,
      Removals removals,
      OperatorPurges purges,
      RouteQueries queries) {
    this.router = router;
    this.hasRoute = hasRoute;
    this.removals = removals;
    this.purges = purges;
    this.queries = queries;
  }

  /**
   * Clients with these addresses may purge from the next exchange on. Any thread.
   *
   * @param fields that they may name tags in, besides the usual ones
   */
  public void allow(List<AddressRange> ranges, TagFields fields) {
    rules.setRelease(new Rules(List.copyOf(ranges), fields));
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request();
    if (request.method() != Method.OTHER || !isOurs(request)) {
      router.handle(exchange);
    } else if (isAllowed(exchange.client().getAddress())) {
      PurgeRequest asked = asked(request);
      if (asked == null) {
        purge(exchange, NormalUri.of(request));
      } else if (asked.refusal() != null) {
        exchange.reply().fail(Failure.request(StatusCode.BAD_REQUEST, asked.refusal()));
      } else {
        purge(exchange, asked.orders());
      }
    } else {
      String why = request.methodText() + " is not for this client";
      exchange.reply().fail(Failure.of(Kind.HTTP_REQUEST_DENIED, why));
    }
  }

  private @Nullable PurgeRequest asked(RequestHead request) {
    return PurgeRequest.of(request, rules.getAcquire().fields());
  }

  /** Here, and at other nodes if there are any. */
  private void purge(Exchange exchange, @Nullable String uri) {
    KeptAnswer answer = new KeptAnswer(exchange);
    exchange.reply().open(answer);
    OtherNodes nodes = removals.others();
    PurgeTarget target = nodes == null || uri == null ? null : PurgeTarget.url(uri);
    if (nodes != null && target != null) {
      nodes.purge(target, false, answer::purged);
    } else {
      int count = removals.remove(queries.keyOf(exchange.request()));
      removals.whenKept(() -> answer.purged(StatusCode.OK, count));
    }
  }

  /** What does not go by its URL, here or at all nodes. */
  private void purge(Exchange exchange, List<Order> orders) {
    KeptAnswer answer = new KeptAnswer(exchange);
    exchange.reply().open(answer);
    OtherNodes nodes = removals.others();
    if (nodes != null) {
      Everywhere all = new Everywhere(answer, orders.size());
      orders.forEach(order -> nodes.purge(order.target(), order.isSoft(), all));
      return;
    }
    StringBuilder text = new StringBuilder();
    for (Order order : orders) {
      PurgeReport report = purges.purge(order.target(), order.isSoft());
      if (report == null) {
        answer.say(StatusCode.SERVICE_UNAVAILABLE, "too many purges wait to be swept\n");
        return;
      }
      text.append("purge: ").append(report.id()).append('\n');
    }
    removals.whenKept(() -> answer.say(StatusCode.OK, text.toString()));
  }

  /** The router has answers for a URL that has no route. */
  private boolean isOurs(RequestHead request) {
    if (rules.getAcquire().clients().isEmpty()) {
      return false;
    }
    String method = request.methodText();
    return BY_FIELDS.contains(method)
        || (method.equals(NAME) && (hasRoute.test(request) || asked(request) != null));
  }

  private boolean isAllowed(@Nullable InetAddress client) {
    return client != null
        && rules.getAcquire().clients().stream().anyMatch(range -> range.contains(client));
  }

  /** Waits for several purges, and answers with the worst status and the sum. Any thread. */
  private static final class Everywhere implements OtherNodes.Done {

    private final KeptAnswer answer;
    private final AtomicInteger left;
    private final AtomicInteger worst = new AtomicInteger(StatusCode.OK);
    private final AtomicLong sum = new AtomicLong();

    Everywhere(KeptAnswer answer, int count) {
      this.answer = answer;
      this.left = new AtomicInteger(count);
    }

    @Override
    public void purged(int status, long responses) {
      worst.accumulateAndGet(status, Math::max);
      sum.addAndGet(responses);
      if (left.decrementAndGet() == 0) {
        answer.purged(worst.get(), sum.get());
      }
    }
  }

  /** An answer that waits until what was removed is removed for later processes too. */
  private static final class KeptAnswer implements ContentSource {

    private final Exchange exchange;
    private boolean isCancelled;

    KeptAnswer(Exchange exchange) {
      this.exchange = exchange;
    }

    /** On any thread. */
    void purged(int status, long count) {
      say(status, "purged: " + count + "\n");
    }

    /** On any thread. */
    void say(int status, String text) {
      if (exchange.loop().inEventLoop()) {
        send(status, text);
      } else if (!exchange.loop().isShuttingDown()) {
        exchange.loop().execute(() -> send(status, text));
      }
    }

    private void send(int status, String text) {
      if (!isCancelled) {
        answer(exchange.reply(), status, text);
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

  private static void answer(Reply reply, int status, String text) {
    byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
    ResponseHead head =
        ResponseHead.of(
            status, "Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store");
    if (status == StatusCode.SERVICE_UNAVAILABLE) {
      head.fields().add(FieldName.RETRY_AFTER, "1");
    }
    reply.head(head, octets.length);
    reply.write(Unpooled.wrappedBuffer(octets));
    reply.end(null);
  }

  /** What would become of this request, and why; null if it is the router's. Any thread. */
  public @Nullable Explanation explain(RequestHead request) {
    if (!isOurs(request)) {
      return null;
    }
    PurgeRequest asked = asked(request);
    if (asked != null) {
      return explain(request, asked);
    }
    Reason reason =
        new Reason(
            "purge",
            "cache.purge-from",
            "responses stored under the key: " + removals.count(queries.keyOf(request)),
            "clients that may purge remove them, others are refused: 403 (Forbidden)");
    return new Explanation(
        Decision.PURGE, null, NormalUri.of(queries.filtered(request)), List.of(reason));
  }

  private static Explanation explain(RequestHead request, PurgeRequest asked) {
    List<Reason> reasons = new ArrayList<>();
    if (asked.refusal() != null) {
      String so = asked.refusal() + ": clients that may purge get 400 (Bad Request)";
      reasons.add(new Reason("purge", "cache.purge-from", request.methodText(), so));
      return new Explanation(Decision.REFUSE, null, null, reasons);
    }
    for (Order order : asked.orders()) {
      String done = order.isSoft() ? "make them stale" : "remove them";
      reasons.add(
          new Reason(
              "purge",
              "cache.purge-from",
              "responses by " + order.target().kind().token() + ": " + order.target().shown(),
              "clients that may purge " + done + ", others are refused: 403 (Forbidden)"));
    }
    return new Explanation(Decision.PURGE, null, null, reasons);
  }
}
