package io.kamille.admin.live;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The last ten minutes, six hours and two weeks of some figures. Any thread. */
public final class History {

  /*
   * Each range has a ring of its own with a mean for each step, or the greatest of a percentile.
   * All are allocated at start, so that history never takes more memory than on the first day.
   */
  private final List<Ring> rings = Stream.of(Range.values()).map(Ring::new).toList();

  /** What is kept of the past. */
  public enum Range {
    MINUTES(1, 600),
    HOURS(10, 2160),
    DAYS(300, 4032);

    private final int stepSeconds;
    private final int steps;

    Range(int stepSeconds, int steps) {
      this.stepSeconds = stepSeconds;
      this.steps = steps;
    }

    /** Seconds from one point to the next. */
    public int stepSeconds() {
      return stepSeconds;
    }

    /** How many points there are at most. */
    public int steps() {
      return steps;
    }
  }

  /** Adds the figures of one second. */
  public synchronized void add(Map<Figure, Double> point) {
    rings.forEach(ring -> ring.add(point));
  }

  /** The values of each figure by its token, the oldest first; the last belongs to the present. */
  public synchronized Map<String, float[]> values(Range range) {
    return rings.get(range.ordinal()).values();
  }

  /** The points of one range. */
  private static final class Ring {

    private final Range range;
    private final float[][] values;
    private final double[] sums = new double[Figure.values().length];
    private int summed;
    private int count;
    private int next;

    Ring(Range range) {
      this.range = range;
      this.values = new float[Figure.values().length][range.steps];
    }

    void add(Map<Figure, Double> point) {
      point.forEach(
          (figure, value) -> {
            int at = figure.ordinal();
            sums[at] = figure.isPercentile() ? Math.max(sums[at], value) : sums[at] + value;
          });
      summed++;
      if (summed < range.stepSeconds) {
        return;
      }
      for (Figure figure : Figure.values()) {
        double sum = sums[figure.ordinal()];
        values[figure.ordinal()][next] = (float) (figure.isPercentile() ? sum : sum / summed);
      }
      Arrays.fill(sums, 0);
      summed = 0;
      next = (next + 1) % range.steps;
      count = Math.min(count + 1, range.steps);
    }

    Map<String, float[]> values() {
      Map<String, float[]> ordered = new LinkedHashMap<>();
      for (Figure figure : Figure.values()) {
        float[] figures = new float[count];
        for (int i = 0; i < count; i++) {
          int at = (next - count + i + range.steps) % range.steps;
          figures[i] = values[figure.ordinal()][at];
        }
        ordered.put(figure.token(), figures);
      }
      return ordered;
    }
  }
}
