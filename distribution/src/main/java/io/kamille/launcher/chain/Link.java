package io.kamille.launcher.chain;

import io.kamille.cache.Cache;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cluster.peer.Peers;
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

/** What a station is linked with, in its place of one chain. Confined to whoever links. */
public interface Link {

  /**
   * What chains are made of, for as long as the process lives.
   *
   * @param peers null if no other nodes are asked
   * @param name what the cache calls itself
   */
  record Parts(
      Cache cache,
      @Nullable Peers peers,
      String name,
      Overload overload,
      FileThreads files,
      AuthThreads auth,
      LongAdder mirrorDropped,
      WallClock clock) {}

  /** What forwards requests, by upstream. Looks up the names that are new: blocks. */
  interface Ways {

    /** To the route's own upstream. */
    ExchangeHandler handler(RouteSettings route);

    /** To the upstream of that name. */
    ExchangeHandler handler(String name, RouteSettings route);

    /** To that upstream as an auth server. */
    ExchangeHandler authServer(String name);
  }

  Parts parts();

  /** The rate limits of the route, which outlast a reload. */
  RouteGate rates();

  Ways ways();

  ErrorPages pages();

  /** The gates behind the cache. */
  RouteGate forwards();

  /** Whether this is the way to the other upstream of a split, which passes the cache by. */
  boolean isOther();

  /** What stands behind this station, on the way to the other upstream. */
  ExchangeHandler other();

  /** Whether requests pass the cache by because of their path. */
  boolean isPastCache();

  /** The cache of the route, which is made if it has none yet. */
  CacheHandler cache(Supplier<CacheHandler> making);

  /** The redirects of the route, whose file is read if it was not yet. */
  RedirectsFile moved(Supplier<RedirectsFile> reading);

  /** An upstream whose requests name this cluster. */
  default ExchangeHandler marked(ExchangeHandler upstream) {
    Peers peers = parts().peers();
    return peers == null ? upstream : peers.marking(upstream);
  }
}
