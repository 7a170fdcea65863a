package io.kamille.core.origin.send;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.Hedge;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.UpstreamCounters;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.choose.OriginChoice;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.origin.dial.OriginPools;
import io.kamille.core.socket.Connector;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one loop has of an upstream: pools, the choice of an origin, the budget. Confined. */
final class UpstreamShard {

  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final UpstreamSettings settings;
  private final OriginSet set;
  private final List<Origin> origins;
  private final WallClock clock;
  private final UpstreamCounters counters;
  private final OriginChoice choice;
  private final @Nullable HashKey hashKey;
  private final @Nullable StickyCookie sticky;
  private final RetryBudget budget;
  private final TailTime tail;
  private final OriginPools pools;
  private final Spool spool;

  /**
   * A shard with the connections of another one, as far as it has the same origins. The requests of
   * that one go on, and share them; {@link #giveWayTo} has to follow.
   *
   * @param before null if there is none
   */
  UpstreamShard(
      UpstreamSettings settings,
      OriginSet set,
      EventLoop loop,
      Connector connector,
      WallClock clock,
      Spool spool,
      UpstreamCounters counters,
      @Nullable UpstreamShard before) {
    this.settings = settings;
    this.set = set;
    this.origins = set.origins();
    this.clock = clock;
    this.counters = counters;
    this.spool = spool;
    this.choice = OriginChoice.of(settings.choice().kind(), origins);
    this.hashKey =
        settings.choice().kind() == ChoiceSettings.Algorithm.CONSISTENT_HASH
            ? settings.choice().hashKey()
            : null;
    this.sticky = set.sticky();
    this.budget = before == null ? new RetryBudget() : before.budget;
    this.tail = before == null ? new TailTime() : before.tail;
    OriginPools taken = before == null ? null : before.pools;
    this.pools =
        new OriginPools(settings, origins, set.tls(), loop, connector, clock, counters, taken);
  }

  /** What it serves. */
  OriginSet set() {
    return set;
  }

  UpstreamSettings settings() {
    return settings;
  }

  UpstreamCounters counters() {
    return counters;
  }

  RetryBudget budget() {
    return budget;
  }

  /** Whether requests that suit go to a second origin if the first one is late. */
  boolean hedges() {
    return settings.choice().hedge().isOn() && origins.size() > 1;
  }

  /** After what time they do; 0 while that is not known. */
  long hedgeNanos() {
    Hedge hedge = settings.choice().hedge();
    return hedge.isTail() ? tail.nanos() : hedge.after().toNanos();
  }

  /** How long heads take at present, as far as hedged requests tell. */
  TailTime tail() {
    return tail;
  }

  int originCount() {
    return origins.size();
  }

  Origin origin(int place) {
    return origins.get(place);
  }

  OriginPools pools() {
    return pools;
  }

  /** Opens a connection to each origin that has none. */
  void warm() {
    for (int place = 0; place < origins.size(); place++) {
      pools.of(place).warm();
    }
  }

  Spool spool() {
    return spool;
  }

  /** What brings clients back to their origins, or null. */
  @Nullable StickyCookie sticky() {
    return sticky;
  }

  /** The place of the origin to ask first, or {@link OriginChoice#NOWHERE}. */
  int choose(Exchange exchange) {
    int kept = sticky == null ? OriginChoice.NOWHERE : sticky.place(exchange.request());
    boolean isUsable = kept != OriginChoice.NOWHERE && isUsable(kept);
    if (isUsable && !origin(kept).isBackup()) {
      return kept;
    }
    // Before a backup is kept, others are looked at: one may be in again, or due for its probe.
    int place = choose(exchange, OriginChoice.NOWHERE);
    return isUsable && isBackupThatIsIn(place) ? kept : place;
  }

  /** Whether that origin is in and not drained. */
  boolean isUsable(int place) {
    OriginHealth health = origin(place).health();
    return health.isIn() && !health.isDrained(clock.nanos());
  }

  /** Whether a request belongs to one origin, by the cookie of its client or by its key. */
  boolean binds() {
    return sticky != null || hashKey != null;
  }

  private boolean isBackupThatIsIn(int place) {
    return place != OriginChoice.NOWHERE
        && origin(place).isBackup()
        && origin(place).health().isIn();
  }

  /**
   * The place of the origin to ask, another than {@code avoid} if there is one; or {@link
   * OriginChoice#NOWHERE}.
   */
  int choose(Exchange exchange, int avoid) {
    return choice.choose(key(exchange), isSafe(exchange), avoid, clock.nanos());
  }

  /** As {@link #choose(Exchange, int)}, but only an origin that is in or due for its probe. */
  int chooseIn(Exchange exchange, int avoid) {
    return choice.chooseIn(key(exchange), isSafe(exchange), avoid, clock.nanos());
  }

  private static boolean isSafe(Exchange exchange) {
    return exchange.request().method().isSafe();
  }

  private long key(Exchange exchange) {
    return hashKey == null ? 0 : hashKey.of(exchange);
  }

  /** Whether the request that an origin was chosen for last is its probe. */
  boolean isProbe() {
    return choice.hasClaimed();
  }

  /** The origin sent a head, so long after it was asked. */
  void answered(int place, ResponseHead head, long headNanos) {
    int status = head.status();
    long now = clock.nanos();
    counters.head(headNanos);
    if (status == StatusCode.SERVICE_UNAVAILABLE) {
      origin(place).health().awayFor(retryAfterSeconds(head), now);
    }
    if (origin(place).health().answered(status, now)) {
      LOG.log(Level.INFO, "{0} is in again", origin(place));
    }
    choice.ended(place, status >= StatusCode.INTERNAL_SERVER_ERROR, now);
  }

  /** An exchange is over that the origin answered with this status code. */
  void ended(int place, int status) {
    putOut(place, origin(place).health().ended(status, clock.nanos()));
  }

  /** The origin was asked first, and another one answered first. */
  void lost(int place) {
    putOut(place, origin(place).health().lost(clock.nanos()));
  }

  /** A request got no proper answer. */
  void failed(int place) {
    choice.ended(place, true, clock.nanos());
    putOut(place, origin(place).health().failed(false, clock.nanos()));
  }

  /** After what time the origin wants to be asked again; 0 or less if it does not say. */
  long retryAfterSeconds(ResponseHead head) {
    return RetryAfter.seconds(head.fields(), clock.epochSeconds());
  }

  /** The origin could not be reached. */
  void unreachable(int place) {
    choice.ended(place, true, clock.nanos());
    putOut(place, origin(place).health().failed(true, clock.nanos()));
  }

  private void putOut(int place, @Nullable String why) {
    if (why != null) {
      counters.ejected(place);
      LOG.log(Level.WARNING, "{0} is out: {1}", origin(place), why);
    }
  }

  long nanos() {
    return clock.nanos();
  }

  /** Closes what is idle and keeps nothing open from now on; once. */
  void retire() {
    pools.retire();
  }

  /** Leaves to {@code next} what that has taken over, and closes the rest as {@link #retire}. */
  void giveWayTo(UpstreamShard next) {
    pools.giveWayTo(next.pools);
  }
}
