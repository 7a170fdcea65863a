package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeNotes;
import java.time.Duration;

/** Which exchanges have a line. Confined to its loop. */
final class LineFilter {

  /*
   * A failure that the settings ask for is never left to chance. The others are, by xorshift
   * (Marsaglia, "Xorshift RNGs", 2003): a count would miss what comes at the same place each time.
   */
  private static final int SERVER_ERROR = 500;

  private final AccessLogSettings.Only only;
  private final boolean isChoosy;
  private final long slowNanos;
  private final long limit;
  private long random;

  /**
   * The filter of one loop.
   *
   * @param seed any
   */
  LineFilter(AccessLogSettings settings, long seed) {
    only = settings.only();
    isChoosy = only.isOn();
    Duration slow = only.slowerThan();
    slowNanos = slow == null ? Long.MAX_VALUE : slow.toNanos();
    limit = settings.sample() >= 1 ? Long.MAX_VALUE : (long) (settings.sample() * Long.MAX_VALUE);
    random = seed | 1;
  }

  /** Whether the exchange has a line. */
  boolean takes(ExchangeNotes notes, int status, long nanos) {
    if (notes.isUnlogged()) {
      return false;
    }
    boolean isFailed = status >= SERVER_ERROR || notes.failure() != null;
    if (isChoosy && !(isFailed && only.failures()) && nanos <= slowNanos && !only.has(status)) {
      return false;
    }
    return isFailed || limit == Long.MAX_VALUE || next() < limit;
  }

  private long next() {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return random & Long.MAX_VALUE;
  }
}
