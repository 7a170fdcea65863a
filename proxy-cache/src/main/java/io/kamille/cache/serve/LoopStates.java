package io.kamille.cache.serve;

import io.kamille.core.metric.MetricRegistry;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives every loop its own {@link LoopState}. Any thread. */
public final class LoopStates {

  private final MetricRegistry registry;
  private final Queue<CacheCounters> counters = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final FastThreadLocal<LoopState> current =
      new FastThreadLocal<>() {
        @Override
        protected LoopState initialValue() {
          CacheCounters own = new CacheCounters(registry);
          counters.add(own);
          return new LoopState(count.getAndIncrement(), own);
        }
      };

  public LoopStates(MetricRegistry registry) {
    this.registry = registry;
  }

  /** How many requests came to the store on all loops, those that passed it by included. */
  public long requests() {
    long sum = 0;
    for (CacheCounters each : counters) {
      sum += each.requests();
    }
    return sum;
  }

  /** That of the calling loop. */
  public LoopState current() {
    return current.get();
  }
}
