package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.loop.WallClock;
import java.time.Duration;

/** Writes exchanges as lines into the ring of one loop. Confined to its loop. */
final class ExchangeRecorder implements ExchangeObserver {

  /*
   * Exchanges are timed by the monotonic clock, lines carry the time of day: the two clocks are
   * compared once a second, so that a clock that is set shows in the log within that time.
   */
  private static final long COMPARE_NANOS = Duration.ofSeconds(1).toNanos();

  private final LineRing ring;
  private final Runnable wakeWriter;
  private final WallClock clock;
  private final LineFormat format;
  private boolean isCompared;
  private long comparedNanos;
  private long comparedEpochMicros;

  ExchangeRecorder(LineRing ring, Runnable wakeWriter, WallClock clock, LineFormat format) {
    this.ring = ring;
    this.wakeWriter = wakeWriter;
    this.clock = clock;
    this.format = format;
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    if (exchange.notes().isUnlogged()) {
      return;
    }
    long start = epochMicros(startNanos, endNanos);
    LineBuffer line = format.line(exchange, status, contentBytes, start, endNanos - startNanos);
    ring.add(line.octets(), line.length());
    if (ring.isFilling()) {
      wakeWriter.run();
    }
  }

  /** The time of day at {@code startNanos}, when it is {@code endNanos} now. */
  private long epochMicros(long startNanos, long endNanos) {
    if (endNanos - comparedNanos >= COMPARE_NANOS || !isCompared) {
      isCompared = true;
      comparedNanos = endNanos;
      comparedEpochMicros = clock.epochMillis() * 1000;
    }
    return comparedEpochMicros - (comparedNanos - startNanos) / 1000;
  }
}
