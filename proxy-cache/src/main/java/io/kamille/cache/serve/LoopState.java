package io.kamille.cache.serve;

import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.cache.key.QueryFilter;
import io.kamille.core.h1.HeadWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.Executor;

/**
 * What a loop uses again for every request, so that a hit makes no garbage, and what it counts.
 * Confined to its loop.
 */
public final class LoopState {

  private final int home;
  private final CacheCounters counters;
  private final CacheKeyProbe probe = new CacheKeyProbe();
  private final QueryFilter queries = new QueryFilter();
  private final HeadWriter lines = new HeadWriter();
  private final ByteBuf headOctets = Unpooled.buffer(1024);
  private Executor executor = Runnable::run;

  LoopState(int home, CacheCounters counters) {
    this.home = home;
    this.counters = counters;
  }

  /** The number of the loop: which part of the arena it takes memory from first. */
  public int home() {
    return home;
  }

  public CacheCounters counters() {
    return counters;
  }

  public CacheKeyProbe probe() {
    return probe;
  }

  public QueryFilter queries() {
    return queries;
  }

  /** For one head at a time that is to be stored: empty, and lent. */
  public ByteBuf headOctets() {
    return headOctets.clear();
  }

  /** The loop itself, as far as {@link #runsOn} told. */
  Executor executor() {
    return executor;
  }

  /** Says what runs tasks on this loop, before something is sent that waits for another thread. */
  public void runsOn(Executor executor) {
    this.executor = executor;
  }

  /** For the field lines that are added to a stored response: empty, and lent. */
  HeadWriter lines() {
    lines.begin();
    return lines;
  }
}
