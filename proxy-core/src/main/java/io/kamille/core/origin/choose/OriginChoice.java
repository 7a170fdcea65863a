package io.kamille.core.origin.choose;

import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Picks the origin for one request. Confined to its loop. */
public abstract sealed class OriginChoice
    permits ConsistentHash, PowerOfTwoChoices, WeightedRoundRobin {

  /*
   * Origins that are out are passed over, but when one of them is due for its probe, the request at
   * hand is the probe. While another origin is in, that is a request by a safe method: one that may
   * change something is not sent twice, so a probe that fails would fail its client. If no safe one
   * has come for as long as an origin is out at least, any may be the probe: an upstream that gets
   * no others would never have it back. Origins that return get a growing part of their weight.
   *
   * When none is left, refusing would turn a few failures into an outage of our own making, and one
   * that whoever knows a request which origins fail at could bring about. So all that can be
   * reached get requests then, as if they were in. Only where no origin takes connections, which no
   * request can bring about, requests are refused, but for one at a time for each origin: the first
   * that is answered ends it.
   *
   * Drained origins are passed over, also when all others are out: somebody may be about to stop
   * them.
   *
   * Backups are looked at where no other origin is in. One that a retry or a second request avoids
   * is in all the same: a connection that broke does not make it an outage, and backups may be
   * servers that only say sorry.
   *
   * To fail is faster than to serve. So an origin that fails more of its requests than the others
   * gets a smaller part, whatever the status: its weight times the square of the share that it
   * serves. That share is a mean that follows each answer, and the failures in it fade with time,
   * so that the origin is tried again. Where all fail, all lose alike: one URL that fails at all of
   * them, which clients may ask for as they like, changes nothing. Keys do not move for that.
   */

  /** No origin: none can be reached, and all are being tried. */
  public static final int NOWHERE = -1;

  final Origin[] origins;

  /** The places in {@code origins} that may be picked this time: the first so many count. */
  final int[] candidates;

  /** What each place may get of the requests now, relative to the others: of candidates only. */
  final int[] weights;

  /** What the request at hand is hashed by. */
  long key;

  /** When the request at hand asks for an origin. */
  long nowNanos;

  /** Whether one of the candidates has a smaller weight, since it fails. */
  boolean isUneven;

  private static final double FADE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final double PART_OF_ONE = 1.0 / 8;
  private static final double NOTABLE = 0.1;
  private static final double LEAST_PART = 0.01;

  private final boolean hasBackups;
  private boolean hasClaimed;
  private final double[] failing;
  private final long[] failedNanos;

  OriginChoice(List<Origin> origins) {
    this.origins = origins.toArray(Origin[]::new);
    this.candidates = new int[this.origins.length];
    this.weights = new int[this.origins.length];
    this.failing = new double[this.origins.length];
    this.failedNanos = new long[this.origins.length];
    this.hasBackups = origins.stream().anyMatch(Origin::isBackup);
  }

  /** A choice for one loop. */
  public static OriginChoice of(ChoiceSettings.Algorithm kind, List<Origin> origins) {
    return switch (kind) {
      case POWER_OF_TWO -> new PowerOfTwoChoices(origins, new SplittableRandom());
      case ROUND_ROBIN -> new WeightedRoundRobin(origins);
      case CONSISTENT_HASH -> new ConsistentHash(origins);
    };
  }

  /**
   * The place of the origin to ask, in the list this choice was made from, or {@link #NOWHERE}.
   *
   * @param key what the request is hashed by
   * @param isSafe whether its method is (RFC 9110 §9.2.1), so that it may be the probe of an origin
   *     at once
   * @param avoid the place of an origin that just failed this request, or -1; it is chosen again
   *     only where the list has no other. While it is in, no backup is chosen, unless it is one
   */
  public int choose(long key, boolean isSafe, int avoid, long nowNanos) {
    if (origins.length == 1) {
      hasClaimed = false;
      return only(nowNanos);
    }
    int place = chooseIn(key, isSafe, avoid, nowNanos);
    return place == NOWHERE ? amongThoseOut(avoid) : place;
  }

  /**
   * As {@link #choose}, but only an origin that is in or due for its probe, and never {@code
   * avoid}.
   */
  public int chooseIn(long key, boolean isSafe, int avoid, long nowNanos) {
    this.key = key;
    this.nowNanos = nowNanos;
    this.isUneven = false;
    this.hasClaimed = false;
    int place = amongThoseIn(isSafe, avoid);
    return place == NOWHERE && !isSafe ? amongThoseIn(true, avoid) : place;
  }

  private int amongThoseIn(boolean atOnce, int avoid) {
    int place = amongThoseIn(false, atOnce, avoid);
    return place == NOWHERE && mayUseBackups() ? amongThoseIn(true, atOnce, avoid) : place;
  }

  /** Whether there are any, and no other origin is in, whoever is avoided. */
  private boolean mayUseBackups() {
    if (!hasBackups) {
      return false;
    }
    for (int i = 0; i < origins.length; i++) {
      if (!origins[i].isBackup() && origins[i].health().isIn() && !isDrained(i)) {
        return false;
      }
    }
    return true;
  }

  private int amongThoseIn(boolean isBackup, boolean atOnce, int avoid) {
    int count = 0;
    for (int i = 0; i < origins.length; i++) {
      if (i == avoid || origins[i].isBackup() != isBackup || isDrained(i)) {
        continue;
      }
      int share = origins[i].health().sharePercent(nowNanos);
      if (share > 0) {
        count = add(i, share, count);
      } else if (origins[i].health().claimProbe(atOnce, nowNanos)) {
        hasClaimed = true;
        return i;
      }
    }
    return count == 0 ? NOWHERE : among(count);
  }

  private int only(long nowNanos) {
    OriginHealth health = origins[0].health();
    boolean isOut = !health.isIn();
    hasClaimed =
        isOut
            && (health.claimProbe(true, nowNanos)
                || (health.isBarred() && health.claimTrial(nowNanos)));
    return hasClaimed || !health.isBarred() ? 0 : NOWHERE;
  }

  private int amongThoseOut(int avoid) {
    boolean withBackups = mayUseBackups();
    int count = 0;
    for (int i = 0; i < origins.length; i++) {
      if (mayTry(i, withBackups, avoid) && !origins[i].health().isBarred()) {
        count = add(i, OriginHealth.WHOLE_SHARE, count);
      }
    }
    return count == 0 ? tried(withBackups, avoid) : among(count);
  }

  private int tried(boolean withBackups, int avoid) {
    for (int i = 0; i < origins.length; i++) {
      if (mayTry(i, withBackups, avoid) && origins[i].health().claimTrial(nowNanos)) {
        hasClaimed = true;
        return i;
      }
    }
    return NOWHERE;
  }

  private boolean mayTry(int place, boolean withBackups, int avoid) {
    return place != avoid && (withBackups || !origins[place].isBackup()) && !isDrained(place);
  }

  private boolean isDrained(int place) {
    return origins[place].health().isDrained(nowNanos);
  }

  private int add(int place, int sharePercent, int count) {
    candidates[count] = place;
    weights[place] = origins[place].weight() * sharePercent;
    double failed = isKeyed() ? 0 : failing(place, nowNanos);
    if (failed > NOTABLE) {
      isUneven = true;
      double part = Math.max((1 - failed) * (1 - failed), LEAST_PART);
      weights[place] = Math.max(1, (int) (weights[place] * part));
    }
    return count + 1;
  }

  /** The share of its last requests that failed, from 0 to 1. */
  private double failing(int place, long nowNanos) {
    double last = failing[place];
    return last == 0 ? 0 : last * Math.exp((failedNanos[place] - nowNanos) / FADE_NANOS);
  }

  private int among(int count) {
    return count == 1 ? candidates[0] : pick(count);
  }

  /** Whether the origin chosen last is out, and its one probe or trial is the caller's. */
  public final boolean hasClaimed() {
    return hasClaimed;
  }

  /** The number of one of the first {@code count} candidates, drawn by weight. */
  final int draw(SplittableRandom random, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
      total += weights[candidates[i]];
    }
    int left = random.nextInt(total);
    int at = 0;
    while (left >= weights[candidates[at]]) {
      left -= weights[candidates[at]];
      at++;
    }
    return at;
  }

  /** A request to the origin at that place was served, or failed. */
  public final void ended(int place, boolean hasFailed, long nowNanos) {
    double last = failing(place, nowNanos);
    failing[place] = hasFailed ? last + (1 - last) * PART_OF_ONE : last * (1 - PART_OF_ONE);
    failedNanos[place] = nowNanos;
  }

  /** Whether a request belongs to an origin, so that weights must not move with each answer. */
  boolean isKeyed() {
    return false;
  }

  /** One of the first {@code count} candidates; at least two. */
  abstract int pick(int count);
}
