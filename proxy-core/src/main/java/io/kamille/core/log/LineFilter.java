package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeNotes;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Which exchanges have a line. Confined to its loop. */
final class LineFilter {

  // A failure that the settings ask for is never left to chance. The others are: a count would miss
  // what comes at the same place each time.
  private static final int SERVER_ERROR = 500;
  private static final int STATUS_CODES = 600;

  private final AccessLogSettings.Only only;
  private final boolean isChoosy;
  private final boolean[] wanted = new boolean[STATUS_CODES];
  private final long slowNanos;
  private final double sample;
  private final SplittableRandom random;

  /**
   * The filter of one loop.
   *
   * @param seed any
   */
  LineFilter(AccessLogSettings settings, long seed) {
    only = settings.only();
    Duration slow = only.slowerThan();
    slowNanos = slow == null ? Long.MAX_VALUE : slow.toNanos();
    List<String> codes = only.status();
    for (int code = 0; code < STATUS_CODES; code++) {
      wanted[code] = codes.contains(Integer.toString(code)) || codes.contains(code / 100 + "xx");
    }
    isChoosy = only.failures() || slow != null || !codes.isEmpty();
    sample = settings.sample();
    random = new SplittableRandom(seed);
  }

  /** Whether the exchange has a line. */
  boolean takes(ExchangeNotes notes, int status, long nanos) {
    if (notes.isUnlogged()) {
      return false;
    }
    boolean isFailed = status >= SERVER_ERROR || notes.failure() != null;
    if (isChoosy && !(isFailed && only.failures()) && nanos <= slowNanos && !isWanted(status)) {
      return false;
    }
    return isFailed || sample >= 1 || random.nextDouble() < sample;
  }

  private boolean isWanted(int status) {
    return status < STATUS_CODES && wanted[status];
  }
}
