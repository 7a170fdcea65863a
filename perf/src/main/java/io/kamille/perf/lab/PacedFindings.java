package io.kamille.perf.lab;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.perf.compare.LoadFigures;
import io.kamille.perf.lab.PacedServers.Multiplexer;
import io.kamille.perf.lab.PacedServers.Setting;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Finding.Today;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What holds today of the paper's claims about paced polling. */
record PacedFindings(
    Map<String, Samples> samples,
    Map<String, Samples> limits,
    Map<String, Samples> profiles,
    Samples path,
    Map<String, List<Point>> idle) {

  private static final String PACED = "10000";
  private static final String LONG = "40000";
  private static final double AT_LIMIT = 0.85;
  private static final double RISES = 1.5;
  private static final String NONE = "no undisturbed measurement";

  List<Finding> all() {
    var all = new ArrayList<Finding>();
    for (Setting setting :
        List.of(
            new Setting(Multiplexer.POLL_ZERO, true),
            new Setting(Multiplexer.POLL_ZERO, false),
            new Setting(Multiplexer.EPOLL, true),
            new Setting(Multiplexer.KAMILLE, true),
            new Setting(Multiplexer.KAMILLE, false))) {
      Samples here = undisturbed(setting);
      if (!here.all().isEmpty()) {
        all.add(throughput(setting.label()));
        all.add(flat(setting, here));
        all.add(core(setting.label(), here));
        all.add(poll(setting.label()));
      }
    }
    all.add(wait(PACED, 0.9, "through the path: 10 ms do not show at light load"));
    all.add(
        wait(
            LONG,
            0,
            "through the path: with 40 ms the wait shows at light load (non-persistent, in the"
                + " paper)"));
    all.add(idleCount());
    all.add(
        Finding.untested(
            "at 7,000 sockets, the scheduler disturbs the interval",
            "a loop beside others of 7,000 connections: perf/log/2026-11-29-pacing.md"));
    return all;
  }

  private Samples undisturbed(Setting setting) {
    Samples all = samples.getOrDefault(setting.label(), new Samples("rate", "interval_micros"));
    return PacedFigures.undisturbed(all);
  }

  /** Where the unpaced server is at its limit. */
  private Finding throughput(String label) {
    String claim = label + ": throughput +11 to +25 % with 10 ms, on a fifth of the core";
    Samples here =
        PacedFigures.undisturbed(
            limits.getOrDefault(label, new Samples("rate", "interval_micros")));
    for (String rate : here.situations()) {
      Optional<Spread> ratio = here.ratio(LoadFigures.RATE, rate, PACED, PacedFigures.UNPACED);
      double core = here.median(PacedFigures.CPU_SHARE, rate, PacedFigures.UNPACED);
      if (ratio.isPresent() && core > AT_LIMIT) {
        String figures = rate + "/s offered: × " + Column.text(ratio, 2);
        return Finding.atLeast(claim, ratio.get().median(), 1.11, 1.03, figures);
      }
    }
    return Finding.untested(claim, "no undisturbed run has the unpaced server at its limit");
  }

  private static Finding flat(Setting setting, Samples here) {
    String claim =
        setting.label()
            + (setting.isPersistent()
                ? ": response time rises less with the load if paced with 10 ms"
                : ": response time is flat in the load with 10 ms, and rises without");
    double paced = rise(here, LoadFigures.MEAN, PACED);
    double unpaced = rise(here, LoadFigures.MEAN, PacedFigures.UNPACED);
    if (Double.isNaN(paced + unpaced)) {
      return Finding.untested(claim, NONE);
    }
    String figures =
        text("mean at the highest ÷ at the lowest rate: %.2f paced, %.2f not", paced, unpaced);
    if (unpaced < RISES) {
      return Finding.untested(claim, figures);
    }
    Today today = unpaced > RISES * paced ? Today.HOLDS_LESS : Today.DOES_NOT_HOLD;
    boolean isFlat = paced < RISES || (setting.isPersistent() && unpaced > RISES * paced);
    return new Finding(claim, isFlat ? Today.HOLDS : today, figures);
  }

  private static Finding core(String label, Samples here) {
    String claim =
        label + ": the core is near 100 % without pacing, and grows with the rate with it";
    if (here.situations().isEmpty()) {
      return Finding.untested(claim, NONE);
    }
    String light = here.situations().getFirst();
    double unpaced = here.median(PacedFigures.CPU_SHARE, light, PacedFigures.UNPACED);
    double grows = rise(here, PacedFigures.CPU_SHARE, PACED);
    if (Double.isNaN(unpaced + grows)) {
      return Finding.untested(claim, NONE);
    }
    Today today =
        grows < RISES ? Today.DOES_NOT_HOLD : unpaced > 0.9 ? Today.HOLDS : Today.HOLDS_LESS;
    return new Finding(
        claim,
        today,
        text(
            "%.0f %% without at %s/s; with it × %.1f from the lowest to the highest rate",
            unpaced * 100, light, grows));
  }

  private Finding poll(String label) {
    String claim = label + ": poll() has 5 to 8 points less of kernel time with pacing (6 to 28 %)";
    Samples here = profiles.getOrDefault(label, new Samples("rate", "interval_micros"));
    double unpaced = 0;
    double paced = 0;
    for (String rate : here.situations()) {
      double share = here.median(PacedFigures.POLL_SHARE, rate, PacedFigures.UNPACED);
      if (share > unpaced) {
        unpaced = share;
        paced = here.median(PacedFigures.POLL_SHARE, rate, PACED);
      }
    }
    if (unpaced == 0 || Double.isNaN(paced)) {
      return Finding.untested(claim, "no samples of the kernel");
    }
    String figures = text("at most %.0f %% without, then %.0f %% with", unpaced * 100, paced * 100);
    return Finding.atLeast(claim, unpaced - paced, 0.05, 0.01, figures);
  }

  /** How the mean of hits through the path compares with that without pauses, at the least rate. */
  private Finding wait(String interval, double isShort, String claim) {
    Samples here = PacedFigures.undisturbed(path);
    Optional<Spread> ratio =
        here.situations().stream()
            .findFirst()
            .flatMap(
                rate -> here.ratio(PacedFigures.HIT_MEAN, rate, interval, PacedFigures.UNPACED));
    if (ratio.isEmpty()) {
      return Finding.untested(claim, "no undisturbed measurement through the path");
    }
    String figures = "mean of hits × " + Column.text(ratio, 2);
    double times = ratio.get().median();
    return isShort > 0
        ? Finding.atLeast(claim, 1 / times, isShort, 0.8, figures)
        : Finding.atLeast(claim, times, 1.15, 1.08, figures);
  }

  private Finding idleCount() {
    String claim =
        "the dynamic time-out keeps idle connections below the threshold of 70 %, or near it";
    List<Point> with = idle.getOrDefault(Double.toString(IdleConnections.THRESHOLD), List.of());
    List<Point> without = idle.getOrDefault("off", List.of());
    if (with.isEmpty() || IdleConnections.settled(without) < 0.95) {
      return Finding.untested(claim, "without it the connections do not come to their limit");
    }
    double settled = IdleConnections.settled(with);
    double distance = Math.abs(settled - IdleConnections.THRESHOLD);
    String figures =
        text(
            "%.0f %% of the limit with it, %.0f %% without",
            settled * 100, IdleConnections.settled(without) * 100);
    return Finding.atLeast(claim, -distance, -0.1, -0.2, figures);
  }

  /** At the highest rate as a multiple of that at the lowest; NaN without both. */
  private static double rise(Samples here, Figure figure, String interval) {
    List<String> rates =
        here.situations().stream().filter(rate -> !here.of(rate, interval).isEmpty()).toList();
    return rates.size() < 2
        ? Double.NaN
        : here.median(figure, rates.getLast(), interval)
            / here.median(figure, rates.getFirst(), interval);
  }

  @FormatMethod
  private static String text(@FormatString String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
