package io.kamille.cache.purge;

import java.util.concurrent.atomic.AtomicLong;

/** One purge, with its place in the order of all. Any thread. */
public final class Purge {

  private final long sequence;
  private final PurgeTarget shown;
  private final boolean isSoft;
  private final long epochSeconds;
  private final AtomicLong affected = new AtomicLong();

  /** The purge with that number, made at that time. */
  public Purge(long sequence, PurgeTarget target, boolean isSoft, long epochSeconds) {
    this.sequence = sequence;
    this.shown = target.forPeople();
    this.isSoft = isSoft;
    this.epochSeconds = epochSeconds;
  }

  /** Its number: what was asked for before it has a smaller one. */
  public long sequence() {
    return sequence;
  }

  /**
   * What it is called, for people: its kind and at most some 200 characters of its names. It
   * matches nothing.
   */
  public PurgeTarget shown() {
    return shown;
  }

  /** Whether what it is about is made stale, not removed. */
  public boolean isSoft() {
    return isSoft;
  }

  /** When it was made. */
  public long epochSeconds() {
    return epochSeconds;
  }

  /** Counts responses that it removed or made stale. */
  public void affected(long responses) {
    affected.addAndGet(responses);
  }

  /** How many responses it has removed or made stale so far. */
  public long affected() {
    return affected.get();
  }
}
