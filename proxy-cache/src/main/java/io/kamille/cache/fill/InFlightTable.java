package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.EventLoop;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight that may be followed, by cache key and variant, and the keys whose
 * responses turned out not to be shared. Any thread.
 */
public final class InFlightTable {

  /*
   * Origins answer users whom they know by a cookie otherwise than all others. What comes for
   * requests with Cookie therefore says nothing about those without, and is remembered apart: a
   * client with a session cannot have requests without one forwarded singly, nor the reverse.
   */
  private static final int BACKGROUND_LIMIT = 256;

  /** For how many variants of one key a leader can be found; more go to the origin alone. */
  private static final int VARIANT_LIMIT = 64;

  private final WallClock clock;
  private final PurgeTable purges;
  private final ConcurrentHashMap<CacheKey, InFlight[]> flights = new ConcurrentHashMap<>();
  private final KeySlots<Pause> uncachable = new KeySlots<>();
  private final KeySlots<Pause> uncachableWithCookie = new KeySlots<>();
  private final AtomicInteger inBackground = new AtomicInteger();
  private final KeySlots<Pause> postponed = new KeySlots<>();
  private final KeySlots<Refusal> refusals = new KeySlots<>();

  /** Something is better not tried for a key until then. */
  private record Pause(CacheKey key, long untilNanos) implements KeySlots.Entry {}

  public InFlightTable(WallClock clock, PurgeTable purges) {
    this.clock = clock;
    this.purges = purges;
  }

  PurgeTable purges() {
    return purges;
  }

  /** The flight for a request that knows all purges. */
  public @Nullable InFlight find(CacheKey key, RequestHead request) {
    return find(key, request, false);
  }

  /**
   * The flight for that request to follow, or null. One that began before a purge of what it may
   * bring is not followed any more; those who do go on. Borrows the request and its key, which may
   * be a probe.
   *
   * @param isCutOff whether purges may have been missed
   */
  public @Nullable InFlight find(CacheKey key, RequestHead request, boolean isCutOff) {
    InFlight[] all = flights.get(key);
    for (int i = 0; all != null && i < all.length; i++) {
      InFlight flight = all[i];
      if (flight.mayAnswer(request)) {
        if ((!isCutOff || flight.isForCutOff()) && !flight.isPurged(request)) {
          return flight;
        }
        flight.supersede();
      }
    }
    return null;
  }

  /** A flight of one that knows all purges. */
  public @Nullable InFlight begin(
      CacheKey key, RequestHead request, @Nullable SelectingFields like, EventLoop loop) {
    return begin(key, request, like, loop, false);
  }

  /**
   * A flight whose leader is the caller, on {@code loop}; null if there is one that its request may
   * follow. Nobody finds one of too many variants. Keeps the key, borrows the request.
   *
   * @param like which request fields select, with the values of whatever request; null if that is
   *     not known
   * @param isCutOff whether purges may have been missed
   */
  public @Nullable InFlight begin(
      CacheKey key,
      RequestHead request,
      @Nullable SelectingFields like,
      EventLoop loop,
      boolean isCutOff) {
    SelectingFields known = like == null ? selecting(flights.get(key)) : like;
    SelectingFields expected = known == null ? null : known.in(request);
    InFlight flight = new InFlight(this, key, expected, loop, clock, purges.last(), isCutOff);
    InFlight[] after = flights.compute(key, (_, before) -> with(flight, request, before));
    // The map decides once: another flight may come to know its variant at any moment.
    boolean mayFollow = after.length < VARIANT_LIMIT;
    for (InFlight each : after) {
      if (each == flight) {
        return flight;
      }
      mayFollow |= each.mayAnswer(request);
    }
    return mayFollow ? null : flight;
  }

  /** These with one more, unless that may follow one of them, or there are too many. */
  private static InFlight[] with(InFlight one, RequestHead request, InFlight @Nullable [] before) {
    if (before == null) {
      return new InFlight[] {one};
    }
    if (before.length >= VARIANT_LIMIT
        || Stream.of(before).anyMatch(each -> each.mayAnswer(request))) {
      return before;
    }
    InFlight[] after = Arrays.copyOf(before, before.length + 1);
    after[before.length] = one;
    return after;
  }

  /** What one of them knows of the fields that select. */
  private static @Nullable SelectingFields selecting(InFlight @Nullable [] all) {
    for (int i = 0; all != null && i < all.length; i++) {
      SelectingFields known = all[i].selecting();
      if (known != null) {
        return known;
      }
    }
    return null;
  }

  /** A response that may be reused was stored under that key. Borrows it. */
  void stored(CacheKey key, SelectingFields selecting) {
    InFlight[] all = flights.get(key);
    for (int i = 0; all != null && i < all.length; i++) {
      all[i].stored(selecting);
    }
  }

  /** Lets nobody follow the flights of a key any more; those who do go on. Borrows the key. */
  public void remove(CacheKey key) {
    flights.remove(key);
  }

  /** As {@link #remove}, for all flights. */
  public void clear() {
    flights.clear();
  }

  void remove(CacheKey key, InFlight flight) {
    flights.computeIfPresent(
        key,
        (_, before) -> {
          InFlight[] after =
              Stream.of(before).filter(each -> each != flight).toArray(InFlight[]::new);
          return after.length == 0 ? null : after;
        });
  }

  /** Whether requests like that one are better not held back. Borrows key and request. */
  public boolean isUncachable(CacheKey key, RequestHead request) {
    return uncachableNanos(key, request) > 0;
  }

  /**
   * Remembers for a while that what comes for requests like that one is not shared. Keeps the key,
   * borrows the request.
   */
  public void uncachable(CacheKey key, RequestHead request, long durationNanos) {
    uncachableLike(request).add(new Pause(key, clock.nanos() + durationNanos));
  }

  /**
   * For how much longer requests like that one are better not held back, in nanoseconds; not more
   * than 0 if they may be. Borrows key and request.
   */
  public long uncachableNanos(CacheKey key, RequestHead request) {
    return remainingNanos(uncachableLike(request), key);
  }

  /** Remembers, for those who ask, why an answer was not stored. Keeps the key. */
  public void refused(CacheKey key, int status, Storability why) {
    refusals.add(new Refusal(key, status, why, clock.nanos()));
  }

  /** The last answer of that key if it was not stored and is remembered, or null. */
  public @Nullable Refusal refusal(CacheKey key) {
    return refusals.find(key);
  }

  /** What comes for requests like that one is shared after all. Borrows key and request. */
  public void cachable(CacheKey key, RequestHead request) {
    refusals.remove(key);
    uncachableLike(request).remove(key);
  }

  /** Counts one more request that no client waits for; false if there are as many as may be. */
  public boolean enterBackground() {
    if (inBackground.incrementAndGet() <= BACKGROUND_LIMIT) {
      return true;
    }
    leaveBackground();
    return false;
  }

  /** Counts one less. */
  public void leaveBackground() {
    inBackground.decrementAndGet();
  }

  /** Whether nothing is to be fetched in the background for that key just now. Borrows it. */
  public boolean isPostponed(CacheKey key) {
    return remainingNanos(postponed, key) > 0;
  }

  /** Fetches nothing in the background for that key for a while. Keeps it. */
  public void postpone(CacheKey key, long durationNanos) {
    postponed.add(new Pause(key, clock.nanos() + durationNanos));
  }

  private KeySlots<Pause> uncachableLike(RequestHead request) {
    return Stage.Apart.hasCookie(request) ? uncachableWithCookie : uncachable;
  }

  private long remainingNanos(KeySlots<Pause> pauses, CacheKey key) {
    Pause pause = pauses.find(key);
    return pause == null ? 0 : pause.untilNanos - clock.nanos();
  }

  /** Tells of the flights in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(
        "kamille_cache_in_flight",
        "Forwarded requests that others may wait for at this moment.",
        this::size);
  }

  /** How many flights there are. */
  public int size() {
    return flights.values().stream().mapToInt(all -> all.length).sum();
  }
}
