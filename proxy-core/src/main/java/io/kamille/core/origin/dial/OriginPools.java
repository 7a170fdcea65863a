package io.kamille.core.origin.dial;

import io.kamille.core.h1.HeadWriter;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.h2.ResponseSink;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamCounters;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.choose.OriginChoice;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.wire.RequestConnection;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.kamille.core.origin.wire.h2.H2Lines;
import io.kamille.core.origin.wire.h2.H2OriginConnection;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The connections of one loop to the origins of an upstream. Confined to its loop. */
public final class OriginPools {

  /*
   * Each origin has a pool. One that settles the version by ALPN gets a second one with the first
   * request that asks for another protocol: HTTP/2 knows no Upgrade (RFC 9113 §8.6), so that such a
   * request needs a connection where nothing but HTTP/1.1 was offered. Nor is HTTP/2 of use where a
   * PROXY header names the client of a connection, which then belongs to one request.
   */
  private static final int NOWHERE = OriginChoice.NOWHERE;
  private static final Duration LONGEST_TICK = Duration.ofMillis(250);
  private static final Duration SHORTEST_TICK = Duration.ofMillis(1);

  private final UpstreamSettings settings;
  private final List<Origin> origins;
  private final OriginProtocol protocol;
  private final @Nullable OriginTls tls;
  private final EventLoop loop;
  private final Connector connector;
  private final WallClock clock;
  private final UpstreamCounters counters;
  private final RequestHeadWriter head;
  private final ResponseSink sink = new ResponseSink();
  private final HpackWriter section = new HpackWriter();
  private final List<ConnectionPool<RequestConnection>> pools = new ArrayList<>();
  private final @Nullable ConnectionPool<RequestConnection>[] upgrading;
  private final IdentityHashMap<Object, Integer> places = new IdentityHashMap<>();
  private boolean isRetired;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  public OriginPools(
      UpstreamSettings settings,
      List<Origin> origins,
      @Nullable OriginTls tls,
      EventLoop loop,
      Connector connector,
      WallClock clock,
      UpstreamCounters counters,
      @Nullable OriginPools before) {
    this.settings = settings;
    this.origins = origins;
    boolean namesClients = settings.connection().proxyProtocol() != ProxyAnnouncement.OFF;
    this.protocol = namesClients ? OriginProtocol.HTTP_1_1 : settings.protocol();
    boolean offersMore = protocol != settings.protocol();
    this.tls = tls != null && offersMore ? tls.withHttp11Only() : tls;
    this.loop = loop;
    this.connector = connector;
    this.clock = clock;
    this.counters = counters;
    this.head = new RequestHeadWriter(settings.forwarding(), new HeadWriter());
    this.upgrading = new ConnectionPool[origins.size()];
    for (int place = 0; place < origins.size(); place++) {
      places.put(origins.get(place).server(), place);
      int last = before == null ? NOWHERE : before.placeOf(origins.get(place));
      if (before != null && last != NOWHERE) {
        pools.add(before.pools.get(last));
        upgrading[place] = before.upgrading[last];
      } else {
        boolean isSecure = origins.get(place).url().isSecure();
        pools.add(open(place, isSecure ? this.tls : null, protocol));
      }
    }
  }

  /** The place of the same server, or {@link OriginChoice#NOWHERE}. */
  public int placeOf(Origin origin) {
    return places.getOrDefault(origin.server(), NOWHERE);
  }

  private ConnectionPool<RequestConnection> open(
      int place, @Nullable OriginTls spoken, OriginProtocol used) {
    Origin origin = origins.get(place);
    boolean isSecure = spoken != null;
    var lines =
        new H2Lines(
            origin.name(), isSecure, settings.connection(), head, sink, section, clock::nanos);
    return new ConnectionPool<>(
        origin.name(),
        settings.pool(),
        new OriginDialer(origin, spoken, settings, used, lines, loop, connector),
        loop,
        clock,
        used.mayBeH2(isSecure) ? H2OriginConnection.MOST_STREAMS : 1,
        tickNanos(settings),
        counters.opened(place),
        counters.closed(place));
  }

  /** An eighth of the shortest time-out, so that none is much longer than it says. */
  private static long tickNanos(UpstreamSettings settings) {
    // Nanoseconds: to multiply a Duration initialises BigDecimal, for a quarter of a second
    long shortest = LONGEST_TICK.toNanos() * 8;
    for (Duration timeout :
        List.of(
            settings.connection().headTimeout(),
            settings.connection().contentTimeout(),
            settings.connection().continueTimeout(),
            settings.pool().idleTimeout(),
            settings.pool().queueTimeout())) {
      shortest = Math.min(shortest, timeout.toNanos());
    }
    return Math.max(shortest / 8, SHORTEST_TICK.toNanos());
  }

  /** The pool of the origin at this place. */
  public ConnectionPool<RequestConnection> of(int place) {
    return pools.get(place);
  }

  /** Whether the request may switch protocols, and so must not go by HTTP/2. */
  public boolean needsHttp11(RequestHead request) {
    return protocol == OriginProtocol.AUTO && !head.wantedProtocols(request).isEmpty();
  }

  /** As {@link #of}, for requests that {@link #needsHttp11}. */
  public ConnectionPool<RequestConnection> ofHttp11(int place) {
    if (!origins.get(place).url().isSecure()) {
      return of(place);
    }
    ConnectionPool<RequestConnection> present = upgrading[place];
    if (present == null) {
      OriginTls spoken = Objects.requireNonNull(tls, "tls: an origin speaks it");
      present = open(place, spoken.withHttp11Only(), OriginProtocol.HTTP_1_1);
      if (isRetired) {
        present.retire();
      }
      upgrading[place] = present;
    }
    return present;
  }

  /** Closes what is idle and keeps nothing open from now on; once. */
  public void retire() {
    isRetired = true;
    for (int place = 0; place < pools.size(); place++) {
      retire(place);
    }
  }

  /** The same for what {@code next} has not taken over; once. */
  public void giveWayTo(OriginPools next) {
    isRetired = true;
    for (int place = 0; place < pools.size(); place++) {
      if (next.placeOf(origins.get(place)) == NOWHERE) {
        retire(place);
      }
    }
  }

  private void retire(int place) {
    pools.get(place).retire();
    ConnectionPool<RequestConnection> other = upgrading[place];
    if (other != null) {
      other.retire();
    }
  }
}
