package io.kamille.cache.serve;

import io.kamille.core.metric.MetricRegistry;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives every loop its own {@link CacheLoop}. Any thread. */
public final class CacheLoops {

  private final MetricRegistry registry;
  private final AtomicInteger count = new AtomicInteger();
  private final FastThreadLocal<CacheLoop> current =
      new FastThreadLocal<>() {
        @Override
        protected CacheLoop initialValue() {
          return new CacheLoop(count.getAndIncrement(), new CacheCounters(registry));
        }
      };

  public CacheLoops(MetricRegistry registry) {
    this.registry = registry;
  }

  /** That of the calling loop. */
  public CacheLoop current() {
    return current.get();
  }
}
