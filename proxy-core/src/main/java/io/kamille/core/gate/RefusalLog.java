package io.kamille.core.gate;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts refusals, and tells the operational log of them, one line in ten seconds at most, however
 * many there are. Any thread.
 */
final class RefusalLog {

  private static final System.Logger LOG = System.getLogger("kamille.admission");
  static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String what;
  private final LongSupplier nanoClock;
  private final AtomicLong nextNanos;
  private final LongAdder count = new LongAdder();
  private final LongAdder untold = new LongAdder();

  /**
   * A log of one kind of refusal.
   *
   * @param what is refused and why, behind a number: "connections of clients that have too many"
   * @param nanoClock monotonic nanoseconds
   */
  RefusalLog(String what, LongSupplier nanoClock) {
    this.what = what;
    this.nanoClock = nanoClock;
    nextNanos = new AtomicLong(nanoClock.getAsLong());
  }

  /**
   * Something was refused.
   *
   * @param whose printed with the line, if one is due
   */
  void refused(@Nullable Object whose) {
    count.increment();
    untold.increment();
    long now = nanoClock.getAsLong();
    long next = nextNanos.get();
    if (now - next >= 0 && nextNanos.compareAndSet(next, now + EVERY_NANOS)) {
      long since = untold.sumThenReset();
      Object last = whose instanceof InetAddress address ? address.getHostAddress() : whose;
      LOG.log(Level.WARNING, "refused " + since + " " + what + ", the last of " + last);
    }
  }

  /** Refusals of this kind. */
  long count() {
    return count.sum();
  }
}
