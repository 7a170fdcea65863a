package io.kamille.launcher.chain;

import io.kamille.cache.Cache;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.answer.FileThreads;
import io.kamille.core.answer.RedirectsFile;
import io.kamille.core.auth.AuthThreads;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.loop.WallClock;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a station is linked with, in its place of one chain. Confined to whoever links.
 *
 * @param rates the rate limits of the route, which outlast a reload
 * @param forwards the gates behind the cache
 * @param isOther whether this is the way to the other upstream of a split, which passes the cache
 *     by
 * @param isPastCache whether requests pass the cache by because of their path
 * @param behind makes what stands behind this station, on the way to the other upstream
 */
public record Link(
    Parts parts,
    RouteGate rates,
    Ways ways,
    ErrorPages pages,
    Kept kept,
    RouteGate forwards,
    boolean isOther,
    boolean isPastCache,
    Supplier<ExchangeHandler> behind) {

  /**
   * What chains are made of, for as long as the process lives.
   *
   * @param peers null if no other nodes are asked
   * @param name what the cache calls itself
   */
  public record Parts(
      Cache cache,
      @Nullable Peers peers,
      String name,
      Overload overload,
      FileThreads files,
      AuthThreads auth,
      LongAdder mirrorDropped,
      WallClock clock) {}

  /** What the cache of a configuration calls itself in {@code Cache-Status}. */
  public static String cacheName(ClusterSettings cluster) {
    return cluster.isOn() ? Peers.cacheName(cluster.node()) : CacheStatus.NAME;
  }

  /** What forwards requests, by upstream. Looks up the names that are new: blocks. */
  public interface Ways {

    /** To the route's own upstream. */
    ExchangeHandler handler(RouteSettings route);

    /** To the upstream of that name. */
    ExchangeHandler handler(String name, RouteSettings route);

    /** To that upstream as an auth server. */
    ExchangeHandler authServer(String name);
  }

  /** What the stations of a route make once, for all its paths. */
  static final class Kept {
    @Nullable CacheHandler cache;
    @Nullable RedirectsFile moved;
  }

  /** What stands behind this station, on the way to the other upstream. */
  ExchangeHandler other() {
    return behind.get();
  }

  /** The cache of the route, which is made if it has none yet. */
  CacheHandler cache(Supplier<CacheHandler> making) {
    CacheHandler own = kept.cache == null ? making.get() : kept.cache;
    kept.cache = own;
    return own;
  }

  /** The redirects of the route, whose file is read if it was not yet. */
  RedirectsFile moved(Supplier<RedirectsFile> reading) {
    RedirectsFile own = kept.moved == null ? reading.get() : kept.moved;
    kept.moved = own;
    return own;
  }

  /** An upstream whose requests name this cluster. */
  ExchangeHandler marked(ExchangeHandler upstream) {
    return parts.peers == null ? upstream : parts.peers.marking(upstream);
  }
}
