package io.kamille.core.origin;

import java.util.concurrent.TimeUnit;

/**
 * All there is to know of an origin's health, replaced as a whole. Immutable.
 *
 * @param failures in a row
 * @param timesOut how often it was put out without having fully returned
 * @param nanos until when it is left alone or its probe may take, or since when it returns
 * @param isUnreachable whether it is out because it takes no connections
 * @param cause what put it out the last time
 * @param sinceNanos when it came into this phase (monotonic); {@link #FROM_THE_START} if it always
 *     was
 * @param why what brought it there, as a phrase for people; empty if nothing did
 */
public record Standing(
    Phase phase,
    int failures,
    int timesOut,
    long nanos,
    boolean isUnreachable,
    Cause cause,
    long sinceNanos,
    String why) {

  /** Where an origin stands. */
  public enum Phase {
    IN,
    OUT,
    PROBED,
    RETURNING
  }

  /** What put it out. */
  enum Cause {
    FAILURES,
    RATIO,
    CHECK
  }

  static final long FROM_THE_START = Long.MIN_VALUE;

  static final Standing HEALTHY =
      new Standing(Phase.IN, 0, 0, 0, false, Cause.FAILURES, FROM_THE_START, "");

  /** Nothing that another process says of an origin is longer ago, or ahead. */
  private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1);

  private static final int PARTS = 8;

  Standing failures(int count) {
    return new Standing(phase, count, timesOut, nanos, isUnreachable, cause, sinceNanos, why);
  }

  Standing reachable(boolean isReachable) {
    return new Standing(phase, failures, timesOut, nanos, !isReachable, cause, sinceNanos, why);
  }

  Standing probedUntil(long untilNanos) {
    return new Standing(
        Phase.PROBED, failures, timesOut, untilNanos, isUnreachable, cause, sinceNanos, why);
  }

  /** Out, and due for its next probe. */
  Standing due(long nowNanos) {
    return new Standing(
        Phase.OUT, failures, timesOut, nowNanos, isUnreachable, cause, sinceNanos, why);
  }

  Standing returning(long nowNanos, String why) {
    return new Standing(Phase.RETURNING, 0, timesOut, nowNanos, false, cause, nowNanos, why);
  }

  Standing back(long nowNanos) {
    return new Standing(Phase.IN, 0, 0, 0, false, cause, nowNanos, why);
  }

  Standing out(long untilNanos, boolean isUnreachable, Cause cause, long nowNanos, String why) {
    long since = isIn() ? nowNanos : sinceNanos;
    return new Standing(
        Phase.OUT, failures, timesOut + 1, untilNanos, isUnreachable, cause, since, why);
  }

  /** Out because of its checks, which alone bring it back: nobody probes it meanwhile. */
  Standing outByChecks(boolean isUnreachable, long nowNanos, String why) {
    long since = isIn() ? nowNanos : sinceNanos;
    return new Standing(
        Phase.OUT, failures, timesOut, nowNanos, isUnreachable, Cause.CHECK, since, why);
  }

  /** Whether it always stood there, so that {@link #sinceNanos} says nothing. */
  public boolean isFromTheStart() {
    return sinceNanos == FROM_THE_START;
  }

  boolean isIn() {
    return phase == Phase.IN || phase == Phase.RETURNING;
  }

  /** Whether there is nothing to say of it. */
  boolean isHealthy() {
    return phase == Phase.IN && failures == 0;
  }

  /** This in words for another process. A probe under way is the next process's to send again. */
  String words(long nowNanos) {
    boolean isProbed = phase == Phase.PROBED;
    return String.join(
        " ",
        (isProbed ? Phase.OUT : phase).name(),
        String.valueOf(failures),
        String.valueOf(timesOut),
        String.valueOf(isProbed ? 0 : nanos - nowNanos),
        String.valueOf(isUnreachable),
        cause.name(),
        String.valueOf(isFromTheStart() ? 0 : sinceNanos - nowNanos),
        why);
  }

  /**
   * What {@link #words} said a moment ago.
   *
   * @throws IllegalArgumentException if it says something else
   */
  static Standing of(String words, long nowNanos) {
    String[] parts = words.split(" ", PARTS);
    if (parts.length != PARTS) {
      throw new IllegalArgumentException("health: " + words);
    }
    Phase phase = Phase.valueOf(parts[0]);
    int failures = Integer.parseInt(parts[1]);
    int timesOut = Integer.parseInt(parts[2]);
    if (failures < 0 || timesOut < 0) {
      throw new IllegalArgumentException("health: " + words);
    }
    return new Standing(
        phase,
        failures,
        timesOut,
        phase == Phase.IN ? 0 : nowNanos + bounded(parts[3]),
        Boolean.parseBoolean(parts[4]),
        Cause.valueOf(parts[5]),
        nowNanos + bounded(parts[6]),
        parts[7]);
  }

  private static long bounded(String nanos) {
    return Math.clamp(Long.parseLong(nanos), -LONGEST_NANOS, LONGEST_NANOS);
  }
}
