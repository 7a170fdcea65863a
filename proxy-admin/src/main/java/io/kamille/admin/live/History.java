package io.kamille.admin.live;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** The last ten minutes, six hours and two weeks of some figures. Any thread. */
public final class History {

  /*
   * Each range has a ring of its own with a mean for each step, or the greatest of a percentile.
   * All are allocated at start, so that history never takes more memory than on the first day.
   */
  private final Map<Range, Ring> rings = new EnumMap<>(Range.class);

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

  /** Empty. */
  public History() {
    for (Range range : Range.values()) {
      rings.put(range, new Ring(range));
    }
  }

  /** Adds the point of one second. */
  public synchronized void add(Point point) {
    rings.values().forEach(ring -> ring.add(point));
  }

  /** The values of a figure, the oldest first; the last one belongs to the present. */
  public synchronized float[] values(Range range, Figure figure) {
    return ring(range).values(figure);
  }

  private Ring ring(Range range) {
    Ring ring = rings.get(range);
    if (ring == null) {
      throw new IllegalStateException(range + " has no ring");
    }
    return ring;
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

    void add(Point point) {
      for (Figure figure : Figure.values()) {
        double value = point.value(figure);
        int at = figure.ordinal();
        sums[at] = figure.isPercentile() ? Math.max(sums[at], value) : sums[at] + value;
      }
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

    float[] values(Figure figure) {
      float[] ordered = new float[count];
      for (int i = 0; i < count; i++) {
        int at = (next - count + i + range.steps) % range.steps;
        ordered[i] = values[figure.ordinal()][at];
      }
      return ordered;
    }
  }
}
