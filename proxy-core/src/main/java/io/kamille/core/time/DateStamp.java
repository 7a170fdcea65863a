package io.kamille.core.time;

import io.kamille.core.http.HttpDate;

/**
 * One loop's reading of the clock, with the value of the {@code Date} field. Confined to its loop.
 */
public final class DateStamp {

  /*
   * The owner calls refresh once per burst of reads, so everything in a burst happens at one moment
   * and a question costs one field. The octets are written anew when the second differs, also when
   * the clock was set back.
   */
  private final WallClock clock;
  private final byte[] octets = new byte[HttpDate.LENGTH];
  private long epochMillis;
  private long epochSeconds;

  private DateStamp(WallClock clock) {
    this.clock = clock;
    this.epochMillis = clock.epochMillis();
    renew(Math.floorDiv(epochMillis, 1000L));
  }

  /** A stamp that shows what the clock shows now. */
  public static DateStamp of(WallClock clock) {
    return new DateStamp(clock);
  }

  /** Reads the clock. */
  public void refresh() {
    epochMillis = clock.epochMillis();
    long seconds = Math.floorDiv(epochMillis, 1000L);
    if (seconds != epochSeconds) {
      renew(seconds);
    }
  }

  private void renew(long seconds) {
    epochSeconds = seconds;
    HttpDate.format(seconds, octets, 0);
  }

  /** The time of day at the last refresh. */
  public long epochMillis() {
    return epochMillis;
  }

  /** The time of day at the last refresh, in whole seconds. */
  public long epochSeconds() {
    return epochSeconds;
  }

  /** {@link #epochSeconds} as an HTTP date of 29 octets. Do not change; valid until a refresh. */
  public byte[] octets() {
    return octets;
  }
}
