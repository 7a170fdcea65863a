package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakShape.Stretch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One mode under one load.
 *
 * @param diskRecords responses on the disk before it began; 0 without a disk
 * @param isClientLimited whether the client was at its own limit
 */
record PeakRun(
    PeakMode mode,
    PeakShape shape,
    PeakSeries series,
    List<TierLog.Entry> tiers,
    long diskRecords,
    boolean isClientLimited) {

  /** Which median has to stay flat. */
  double median(Stretch stretch, Sort sort) {
    return series.millis(stretch, sort, 50);
  }

  /** At the peak, in units of off the peak. */
  double ratio(Sort sort, double percentile) {
    return series.millis(shape.peak(), sort, percentile)
        / series.millis(shape.offPeak(), sort, percentile);
  }

  /** The largest median of a second, in units of that off the peak. */
  double spike(Stretch stretch, Sort sort) {
    return series.greatestMedianMillis(stretch, sort) / median(shape.offPeak(), sort);
  }

  /** For how many seconds in a row the median was more than so many times that off the peak. */
  int secondsAbove(Stretch stretch, Sort sort, double times) {
    return series.longestAbove(stretch, sort, times * median(shape.offPeak(), sort));
  }

  long failures() {
    return series.failures(new Stretch(0, series.seconds()));
  }

  /** When the mode changed, and why. */
  List<String> transitions() {
    var changes = new ArrayList<String>();
    String before = "normal";
    for (TierLog.Entry entry : tiers) {
      if (!entry.mode().equals(before)) {
        before = entry.mode();
        changes.add(
            String.format(
                Locale.ROOT,
                "%s, %s: at %d s %s mode: %s",
                mode.label(),
                shape.label(),
                entry.second(),
                entry.mode(),
                entry.reason()));
      }
    }
    return changes;
  }
}
