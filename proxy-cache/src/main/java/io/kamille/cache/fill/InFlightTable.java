package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.EventLoop;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight that may be followed, by cache key, and the keys whose responses turned
 * out not to be shared. Any thread.
 */
public final class InFlightTable {

  private static final MetricDescriptor IN_FLIGHT =
      MetricDescriptor.gauge(
          "kamille_cache_in_flight",
          Unit.COUNT,
          "Forwarded requests that others may wait for at this moment.");

  /*
   * Origins answer users whom they know by a cookie otherwise than all others. What comes for
   * requests with Cookie therefore says nothing about those without, and is remembered apart: a
   * client with a session cannot have requests without one forwarded singly, nor the reverse.
   */
  private static final int BACKGROUND_LIMIT = 256;

  private final WallClock clock;
  private final PurgeTable purges;
  private final ConcurrentHashMap<CacheKey, InFlight> flights = new ConcurrentHashMap<>();
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
    InFlight flight = flights.get(key);
    if (flight != null && ((isCutOff && !flight.isForCutOff()) || flight.isPurged(request))) {
      flight.supersede();
      return null;
    }
    return flight;
  }

  /** A flight of one that knows all purges. */
  public @Nullable InFlight begin(CacheKey key, EventLoop loop) {
    return begin(key, loop, false);
  }

  /**
   * A flight whose leader is the caller, on {@code loop}; null if there is one already. Keeps the
   * key.
   *
   * @param isCutOff whether purges may have been missed
   */
  public @Nullable InFlight begin(CacheKey key, EventLoop loop, boolean isCutOff) {
    InFlight flight = new InFlight(this, key, loop, clock, purges.last(), isCutOff);
    return flights.putIfAbsent(key, flight) == null ? flight : null;
  }

  /** Lets nobody follow the flight any more; those who do go on. Borrows the key. */
  public void remove(CacheKey key) {
    flights.remove(key);
  }

  /** As {@link #remove}, for all flights. */
  public void clear() {
    flights.clear();
  }

  void remove(CacheKey key, InFlight flight) {
    flights.remove(key, flight);
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

  /**
   * Remembers, for those who ask, why an answer was not stored. Keeps the key.
   *
   * @param detail see {@link Refusal}, as for {@code explanation}
   */
  public void refused(CacheKey key, int status, String detail, String explanation) {
    refusals.add(new Refusal(key, status, detail, explanation, clock.nanos()));
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

  /** Whether the origin may know the user, who then gets answers of his own. */
  static boolean hasCookie(RequestHead request) {
    return request.fields().has(FieldName.COOKIE);
  }

  private KeySlots<Pause> uncachableLike(RequestHead request) {
    return hasCookie(request) ? uncachableWithCookie : uncachable;
  }

  private long remainingNanos(KeySlots<Pause> pauses, CacheKey key) {
    Pause pause = pauses.find(key);
    return pause == null ? 0 : pause.untilNanos - clock.nanos();
  }

  /** Tells of the flights in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(IN_FLIGHT, this::size);
  }

  /** How many flights there are. */
  public int size() {
    return flights.size();
  }
}
