package io.kamille.core.upstream;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.failure.Failure;
import io.kamille.core.http.Method;
import io.kamille.core.http.StatusCode;
import io.kamille.core.socket.Connector;
import io.kamille.core.time.WallClock;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.upstream.connection.MaxForwards;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Answers exchanges by asking the origins of one upstream. Any thread; each exchange is handled on
 * its loop, with the connections of that loop. Belongs to the configurations that use it: who puts
 * one in force that does not closes it. An exchange under way keeps what it needs of it.
 */
public final class UpstreamHandler implements ExchangeHandler, AutoCloseable {

  /*
   * The shards of a loop lie in one map for all handlers: an index of a FastThreadLocal is never
   * given back, so one for each handler would make the table of every thread grow with each reload.
   */
  private static final FastThreadLocal<Map<UpstreamHandler, UpstreamShard>> SHARDS =
      new FastThreadLocal<>() {
        @Override
        protected Map<UpstreamHandler, UpstreamShard> initialValue() {
          return new IdentityHashMap<>();
        }
      };

  private final UpstreamSettings settings;
  private final List<Origin> origins;
  private final @Nullable OriginTls tls;
  private final @Nullable StickyCookie sticky;
  private final Connector connector;
  private final WallClock clock;
  private final UploadMemory uploads;
  private final UpstreamMetrics metrics;
  private final Set<EventLoop> loops = new CopyOnWriteArraySet<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * A handler without any connection yet.
   *
   * @param origins at least one; look them up first ({@link OriginNames#watch})
   * @param tls for those that speak it; null if none does
   * @param metrics of the upstream; stays the caller's
   * @param connector opens connections, of a kind that the loops can serve
   * @param uploads memory for content that comes in before its request takes a connection; stays
   *     the caller's
   */
  public UpstreamHandler(
      UpstreamSettings settings,
      List<Origin> origins,
      @Nullable OriginTls tls,
      Connector connector,
      WallClock clock,
      UploadMemory uploads,
      UpstreamMetrics metrics) {
    if (origins.isEmpty()) {
      throw new IllegalArgumentException("origins: none (expected: at least one)");
    }
    if (tls == null && origins.stream().anyMatch(origin -> origin.url().isSecure())) {
      throw new IllegalArgumentException("tls: none (expected: some, as an origin speaks it)");
    }
    this.settings = settings;
    this.origins = List.copyOf(origins);
    this.tls = tls;
    this.sticky = StickyCookie.of(settings.choice().sticky(), this.origins);
    this.connector = connector;
    this.clock = clock;
    this.uploads = uploads;
    this.metrics = metrics;
  }

  @Override
  public void handle(Exchange exchange) {
    if (exchange.request().method() == Method.TRACE) {
      // Its echo would show scripts what is kept from them: cookies, credentials, fields of ours.
      exchange
          .reply()
          .fail(Failure.request(StatusCode.METHOD_NOT_ALLOWED, "TRACE is not forwarded"));
    } else if (MaxForwards.isSpent(exchange.request())) {
      MaxForwards.answer(exchange);
    } else {
      HedgedRequest.start(of(exchange.loop()), exchange);
    }
  }

  private UpstreamShard of(EventLoop loop) {
    UpstreamShard present = SHARDS.get().get(this);
    if (present == null) {
      UpstreamCounters counters = metrics.counters(loop, origins);
      present =
          new UpstreamShard(
              settings, origins, tls, sticky, loop, connector, clock, uploads, counters);
      SHARDS.get().put(this, present);
      loops.add(loop);
      if (closed.get()) {
        // Who closes looks at the loops after that: it may have missed this one.
        retire();
      }
    }
    return present;
  }

  /**
   * Closes idle connections now, and others once their exchange is over. Exchanges that still come
   * are served, each on a connection of its own. Closing again does nothing.
   */
  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      loops.forEach(loop -> loop.execute(this::retire));
    }
  }

  private void retire() {
    UpstreamShard present = SHARDS.get().remove(this);
    if (present != null) {
      present.retire();
    }
  }
}
