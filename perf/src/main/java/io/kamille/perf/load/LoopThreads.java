package io.kamille.perf.load;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs micro-benchmarks on threads like those of loops, where Netty's thread locals are fast. */
public final class LoopThreads extends ThreadPoolExecutor {

  /** The option that makes JMH take these. */
  public static final String OPTION = "-Djmh.executor=CUSTOM";

  /** The option that tells JMH where they are. */
  public static final String CLASS_OPTION = "-Djmh.executor.class=io.kamille.perf.load.LoopThreads";

  /** Called by JMH. */
  public LoopThreads(int threads, String name) {
    super(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        new DefaultThreadFactory(name, true));
  }
}
