package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.WallClock;
import java.util.concurrent.atomic.AtomicInteger;

/** Indexes whose order is brought up to date by whoever changes them, so that tests see it. */
public final class TestIndexes {

  static final System.Logger LOG = System.getLogger("kamille.cache");

  /** More changes than an order may be behind with. */
  public static final int MANY = 4 * PolicyCache.CHANGES_MAXIMUM;

  private TestIndexes() {}

  /** An index that evicts at once what weighs too much. Any thread. */
  public static MemoryIndex inCaller(
      long capacityBytes, PolicyChoice choice, IndexMemory memory, WallClock clock) {
    return new MemoryIndex(capacityBytes, choice, memory, clock, InCaller::new, LOG);
  }

  /** The same on heap without a limit. */
  public static MemoryIndex inCaller(long capacityBytes, PolicyChoice choice, WallClock clock) {
    return inCaller(capacityBytes, choice, changeBytes -> true, clock);
  }

  /** An index whose order is brought up to date only when that cannot be put off. Confined. */
  public static MemoryIndex late(long capacityBytes, WallClock clock) {
    return new MemoryIndex(
        capacityBytes, PolicyChoice.AUTO, changeBytes -> true, clock, Late::new, LOG);
  }

  private static final class InCaller extends NoUpkeep {

    private final Runnable work;
    private final AtomicInteger asked = new AtomicInteger();

    InCaller(Runnable work) {
      this.work = work;
    }

    @Override
    public void ask() {
      if (asked.getAndIncrement() == 0) {
        int done;
        do {
          done = asked.get();
          doWork();
        } while (asked.addAndGet(-done) != 0);
      }
    }

    /** As the index thread does, it goes on whatever is thrown. */
    private void doWork() {
      try {
        work.run();
      } catch (IllegalStateException thrownByTheTest) {
        assertThat(thrownByTheTest).hasMessage("thrown by the test");
      }
    }

    @Override
    public void hurry() {
      ask();
    }
  }

  private static final class Late extends NoUpkeep {

    private final Runnable work;

    Late(Runnable work) {
      this.work = work;
    }

    @Override
    public void hurry() {
      work.run();
    }
  }

  /** Nothing is ever done. */
  static class NoUpkeep implements Upkeep {

    @Override
    public void ask() {}

    @Override
    public void hurry() {}

    @Override
    public long failures() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
