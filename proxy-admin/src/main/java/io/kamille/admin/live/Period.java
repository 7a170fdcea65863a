package io.kamille.admin.live;

import java.time.Instant;

/**
 * What happened in a stretch of history.
 *
 * @param seconds how long it is, as far as history has it
 * @param cpuSeconds of all loops
 * @param busiest when most requests came, and how many in a second
 * @param worst when origins failed most, and how often in a second
 * @param hitP99 when hits were slowest, in milliseconds
 * @param missP99 when other requests were slowest, in milliseconds
 * @param connections when most were open
 */
public record Period(
    long seconds,
    double requests,
    double hits,
    double failures,
    double cpuSeconds,
    Peak busiest,
    Peak worst,
    Peak hitP99,
    Peak missP99,
    Peak connections) {

  /** The greatest value of a figure, and when it was. */
  public record Peak(String time, double value) {}

  /**
   * The steps of a range from one to another one, counted back from the last.
   *
   * @param from how many steps ago it began; at most as many as there are count
   * @param to how many steps ago it ended
   * @param now when the last step ended
   */
  public static Period of(History history, History.Range range, int from, int to, Instant now) {
    return new Steps(history, range, from, to, now).period();
  }

  private record Steps(History history, History.Range range, int from, int to, Instant now) {

    Period period() {
      int length = history.values(range, Figure.REQUESTS).length;
      long steps = Math.max(0, Math.min(from, length) - to);
      return new Period(
          steps * range.stepSeconds(),
          sum(Figure.REQUESTS),
          sum(Figure.HITS),
          sum(Figure.FAILURES),
          sum(Figure.PROCESSORS),
          peak(Figure.REQUESTS),
          peak(Figure.FAILURES),
          peak(Figure.HIT_P99),
          peak(Figure.MISS_P99),
          peak(Figure.CONNECTIONS));
    }

    private double sum(Figure figure) {
      float[] values = history.values(range, figure);
      double sum = 0;
      for (int i = Math.max(0, values.length - from); i < values.length - to; i++) {
        sum += values[i];
      }
      return rounded(sum * range.stepSeconds());
    }

    private Peak peak(Figure figure) {
      float[] values = history.values(range, figure);
      int at = Math.max(0, values.length - from);
      double greatest = 0;
      for (int i = at; i < values.length - to; i++) {
        if (values[i] > greatest) {
          greatest = values[i];
          at = i;
        }
      }
      long secondsAgo = (long) (values.length - 1 - at) * range.stepSeconds();
      return new Peak(now.minusSeconds(Math.max(0, secondsAgo)).toString(), rounded(greatest));
    }

    private static double rounded(double value) {
      return Math.round(value * 1000) / 1000.0;
    }
  }
}
