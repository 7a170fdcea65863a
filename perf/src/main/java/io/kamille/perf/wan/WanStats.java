package io.kamille.perf.wan;

import java.util.List;

/**
 * What an emulator has done so far.
 *
 * @param links one per link, in order
 * @param latenessP99Nanos one in a hundred packets was handed over even later than due; the figures
 *     of a measurement are to be trusted only while this is far below its round-trip time
 * @param unheld packets lost because all places for packets were taken
 * @param refused packets that a device did not take
 * @param cpuNanos processor time of the emulator's thread
 * @param wallNanos time since it began
 */
public record WanStats(
    List<Link> links,
    long latenessP99Nanos,
    long unheld,
    long refused,
    long cpuNanos,
    long wallNanos) {

  /** Copies the list. */
  public WanStats {
    links = List.copyOf(links);
  }

  /** The two directions of a link. */
  public record Link(String name, Way down, Way up) {}

  /**
   * One direction.
   *
   * @param offered packets that came
   * @param lost of these at random
   * @param overflowed of these at the queue
   */
  public record Way(long offered, long lost, long overflowed) {}

  /** Share of a core that the emulator took. */
  public double cpuShare() {
    return wallNanos == 0 ? 0 : (double) cpuNanos / wallNanos;
  }
}
