package io.kamille.cache.station;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OtherNodes;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.station.PurgeRequest.Order;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
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
  private final AtomicReference<Rules> rules =
      new AtomicReference<>(new Rules(AddressRanges.NONE, TagFields.USUAL));

  private record Rules(AddressRanges clients, TagFields fields) {}

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

  /**
   * Clients with these addresses may purge from the next exchange on. Any thread.
   *
   * @param fields that they may name tags in, besides the usual ones
   */
  public void allow(AddressRanges clients, TagFields fields) {
    rules.setRelease(new Rules(clients, fields));
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request();
    InetAddress client = exchange.client().getAddress();
    if (request.method() != Method.OTHER || !isOurs(request)) {
      router.handle(exchange);
    } else if (client == null || !rules.getAcquire().clients().contains(client)) {
      String why = request.methodText() + " is not for this client";
      exchange.reply().fail(Failure.of(ErrorType.HTTP_REQUEST_DENIED, why));
    } else {
      purge(exchange, asked(request));
    }
  }

  private @Nullable PurgeRequest asked(RequestHead request) {
    return PurgeRequest.of(request, rules.getAcquire().fields());
  }

  /** Here, and at other nodes if there are any. They have no name for a URL without a host. */
  private void purge(Exchange exchange, @Nullable PurgeRequest byFields) {
    OtherNodes nodes = removals.others();
    PurgeRequest asked =
        byFields == null && nodes != null ? PurgeRequest.ofUrl(exchange.request()) : byFields;
    if (asked != null && asked.refusal() != null) {
      exchange.reply().fail(Failure.request(StatusCode.BAD_REQUEST, asked.refusal()));
      return;
    }
    List<Order> orders = asked == null ? List.of() : asked.orders();
    KeptAnswer answer = new KeptAnswer(exchange, Math.max(1, orders.size()));
    exchange.reply().open(answer);
    if (asked == null) {
      int count = removals.remove(queries.keysOf(exchange.request()));
      removals.whenKept(() -> answer.purged(StatusCode.OK, count));
    } else if (nodes != null) {
      orders.forEach(order -> nodes.purge(order.target(), order.isSoft(), answer.of(order)));
    } else {
      StringBuilder text = new StringBuilder();
      for (Order order : orders) {
        PurgeReport report = removals.purge(order.target(), order.isSoft());
        text.append("purge number: ").append(report.id()).append('\n');
      }
      removals.whenKept(() -> answer.say(StatusCode.OK, text.toString()));
    }
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

  /**
   * An answer that waits until all is purged, for later processes too. It has the worst status and
   * the sum, and of several orders what became of each.
   */
  private static final class KeptAnswer implements ContentSource, OtherNodes.Done {

    private final Exchange exchange;
    private final AtomicInteger left;
    private final AtomicInteger worst = new AtomicInteger(StatusCode.OK);
    private final AtomicLong sum = new AtomicLong();
    private final Queue<String> each = new ConcurrentLinkedQueue<>();
    private final boolean tellsEach;
    private boolean isCancelled;

    KeptAnswer(Exchange exchange, int count) {
      this.exchange = exchange;
      this.left = new AtomicInteger(count);
      this.tellsEach = count > 1;
    }

    OtherNodes.Done of(Order order) {
      return (status, responses) -> {
        if (tellsEach) {
          each.add(status + " " + (order.isSoft() ? "soft" : "hard") + " " + text(order.target()));
        }
        purged(status, responses);
      };
    }

    /** In a line of ASCII, as a field has it. */
    private static String text(PurgeTarget target) {
      return target.kind().token() + " " + target.shown().replace("…", "...");
    }

    /** On any thread. */
    @Override
    public void purged(int status, long responses) {
      worst.accumulateAndGet(status, Math::max);
      sum.addAndGet(responses);
      if (left.decrementAndGet() == 0) {
        StringBuilder text = new StringBuilder("purged: " + sum.get() + "\n");
        each.forEach(line -> text.append(line).append('\n'));
        if (worst.get() == StatusCode.BAD_REQUEST) {
          text.append("more than 128 KiB for the log of the cluster: name fewer tags\n");
        }
        if (worst.get() == StatusCode.SERVICE_UNAVAILABLE) {
          text.append("not in the log of the cluster yet: repeat it\n");
        }
        say(worst.get(), text.toString());
      }
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
    if (asked == null) {
      Map<CacheKey, RequestHead> targets = queries.filtered(request);
      String found = "responses stored under the key: " + removals.count(targets.keySet());
      String uri = NormalUri.of(targets.values().iterator().next());
      return Explanation.of(Decision.PURGE, uri, List.of(reason(found, "remove them")), 0);
    }
    if (asked.refusal() != null) {
      String so = asked.refusal() + ": clients that may purge get 400 (Bad Request)";
      Reason reason = new Reason("purge", "cache.purge-from", request.methodText(), so);
      return Explanation.of(Decision.REFUSE, null, List.of(reason), StatusCode.BAD_REQUEST);
    }
    List<Reason> reasons = asked.orders().stream().map(PurgeMethod::reason).toList();
    return Explanation.of(Decision.PURGE, null, reasons, 0);
  }

  private static Reason reason(Order order) {
    PurgeTarget target = order.target();
    String found = "responses by " + target.kind().token() + ": " + target.shown();
    return reason(found, order.isSoft() ? "make them stale" : "remove them");
  }

  private static Reason reason(String found, String done) {
    String so = "clients that may purge " + done + ", others are refused: 403 (Forbidden)";
    return new Reason("purge", "cache.purge-from", found, so);
  }
}
