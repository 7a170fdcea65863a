package io.kamille.core.gate;

import io.kamille.core.loop.Seldom;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
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
  private final AddressMask shown;
  private final LongSupplier nanoClock;
  private final Seldom line = new Seldom(EVERY_NANOS);
  private final LongAdder count = new LongAdder();
  private final LongAdder untold = new LongAdder();

  /**
   * A log of one kind of refusal.
   *
   * @param what was done, with "{}" for how often: "refused {} connection(s) of busy clients"
   * @param shown how clients are named
   * @param nanoClock monotonic nanoseconds
   */
  RefusalLog(String what, AddressMask shown, LongSupplier nanoClock) {
    this.what = what;
    this.shown = shown;
    this.nanoClock = nanoClock;
  }

  /**
   * Something was refused.
   *
   * @param why of this one; empty if that is clear
   */
  void refused(@Nullable InetAddress client, String why) {
    String line = line(client, why);
    if (line != null) {
      LOG.log(Level.WARNING, line);
    }
  }

  /** Counts it; null if no line is due. */
  @Nullable String line(@Nullable InetAddress client, String why) {
    count.increment();
    untold.increment();
    if (!line.isDue(nanoClock.getAsLong())) {
      return null;
    }
    String done = what.replace("{}", Long.toString(untold.sumThenReset()));
    return done + ", the last of " + shown.text(client) + why;
  }

  /** Refusals of this kind. */
  long count() {
    return count.sum();
  }
}
