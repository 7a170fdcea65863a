package io.kamille.core.origin.send;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Method;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.wire.MaxForwards;
import io.kamille.core.origin.wire.ProxyLoop;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
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
  private final Connector connector;
  private final WallClock clock;
  private final Spool spool;
  private final UpstreamMetrics metrics;
  private final Set<EventLoop> loops = new CopyOnWriteArraySet<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  // Volatile: replaced by whoever changes the origins, read on the loops.
  private volatile OriginSet set;

  /**
   * A handler without any connection yet, whose cookies need a file with their secret.
   *
   * @see #UpstreamHandler(UpstreamSettings, List, OriginTls, byte[], Connector, WallClock, Spool,
   *     UpstreamMetrics)
   */
  public UpstreamHandler(
      UpstreamSettings settings,
      List<Origin> origins,
      @Nullable OriginTls tls,
      Connector connector,
      WallClock clock,
      Spool spool,
      UpstreamMetrics metrics) {
    this(settings, origins, tls, null, connector, clock, spool, metrics);
  }

  /**
   * A handler without any connection yet.
   *
   * @param origins look them up first ({@link OriginNames#watch}); without any, requests get 503
   * @param tls for those that speak it; null if none does
   * @param secret signs the cookies of sticky clients where the settings name no file
   * @param metrics of the upstream; stays the caller's
   * @param connector opens connections, of a kind that the loops can serve
   * @param spool room for content that waits for a connection or a client; stays the caller's
   */
  public UpstreamHandler(
      UpstreamSettings settings,
      List<Origin> origins,
      @Nullable OriginTls tls,
      byte @Nullable [] secret,
      Connector connector,
      WallClock clock,
      Spool spool,
      UpstreamMetrics metrics) {
    this.settings = settings;
    this.set =
        new OriginSet(origins, tls, StickyCookie.of(settings.choice().sticky(), secret, origins));
    this.connector = connector;
    this.clock = clock;
    this.spool = spool;
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
    } else if (ProxyLoop.isSeen(exchange.request())) {
      ProxyLoop.answer(exchange);
    } else {
      send(of(exchange.loop()), exchange);
    }
  }

  /** Has each of these loops open a connection to each origin soon, before a request needs it. */
  public void warm(List<EventLoop> loops) {
    loops.forEach(loop -> loop.execute(() -> of(loop).warm()));
  }

  private static void send(UpstreamShard shard, Exchange exchange) {
    if (shard.hedges() && HedgedRequest.suits(exchange)) {
      new HedgedRequest(shard, exchange).start();
    } else {
      new UpstreamRequest(shard, exchange).start();
    }
  }

  private UpstreamShard of(EventLoop loop) {
    UpstreamShard present = SHARDS.get().get(this);
    if (present == null) {
      present = shard(loop, null);
      loops.add(loop);
      // Who closes, or changes the origins, looks at the loops after that: it may have missed this.
      if (closed.get()) {
        retire();
      } else if (!present.set().equals(set)) {
        present = shard(loop, present);
      }
    }
    return present;
  }

  private UpstreamShard shard(EventLoop loop, @Nullable UpstreamShard before) {
    OriginSet now = set;
    UpstreamShard made =
        new UpstreamShard(
            settings,
            now,
            loop,
            connector,
            clock,
            spool,
            metrics.counters(loop, now.origins()),
            before);
    SHARDS.get().put(this, made);
    if (before != null) {
      before.giveWayTo(made);
    }
    return made;
  }

  /**
   * Requests that begin from now on, soon on each loop, go to these origins. Those that it had keep
   * their connections; the connections of others close as by {@link #close}. The metrics expect
   * these origins. One that speaks TLS comes only where the handler was made with it.
   */
  public void origins(List<Origin> origins) {
    OriginSet last = set;
    if (last.origins().equals(origins)) {
      return;
    }
    StickyCookie sticky = last.sticky() == null ? null : last.sticky().with(origins);
    set = new OriginSet(origins, last.tls(), sticky);
    loops.forEach(loop -> loop.execute(() -> renew(loop)));
  }

  /**
   * Whether its cookies are signed with what the file of the secret has now; true without any.
   * Blocks.
   *
   * @throws java.io.UncheckedIOException if the file cannot be read
   */
  public boolean hasSecretOfFile() {
    StickyCookie sticky = set.sticky();
    return sticky == null || sticky.isSignedBy(settings.choice().sticky());
  }

  private void renew(EventLoop loop) {
    UpstreamShard present = SHARDS.get().get(this);
    if (present != null && !present.set().equals(set)) {
      shard(loop, present);
    }
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
