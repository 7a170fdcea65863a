package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.PeakMix;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** P2: what a peak does to a cache on a disk, in memory, on both, and with peak mode. */
final class MemoryAtPeak implements Experiment {

  /*
   * The disk is a model: the machine has what it has, and its kernel keeps in memory what was just
   * written. SlowDisk makes each access of the store wait for an arm that all of them share.
   *
   * Before a run the population is asked for once, while the disk costs nothing (again, if not all
   * of it was written: the less memory, the less may wait for that), then by its popularity, so
   * that memory holds what it would hold after a long time; then the disk becomes slow, and the
   * load off the peak runs for a while before anything is counted.
   */

  /** How long and how much, by scale. */
  private record Extent(List<PeakShape> shapes, int settlingSeconds, long diskMib) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK -> new Extent(List.of(shape(8, 2)), 2, 1024);
        case NORMAL -> new Extent(List.of(shape(45, 10), shape(45, 0)), 10, 1024);
        case FULL -> new Extent(List.of(shape(600, 60), shape(600, 0)), 30, 8192);
      };
    }

    private static PeakShape shape(int part, int ramp) {
      return new PeakShape(PEAK_RATE / PEAK_TIMES, PEAK_RATE, part, ramp);
    }
  }

  static final Paper PAPER =
      new Paper(
          "p2",
          "memory at the peak: disk only, memory + disk, memory only, and peak mode",
          "Kajita, Nakamura, Chinen and Sunahara (1999) found that a proxy whose cache lies on a"
              + " disk becomes unusable at the peak of the day, that memory before the disk does"
              + " not save it, and that a cache in memory alone keeps its response time. They"
              + " asked for what they did not build: memory and disk off the peak, memory only at"
              + " it, and a proxy that notices the peak. Does Kamille, and what happens on the way"
              + " in and out?",
          List.of(
              "a cache on a disk: response time rises steeply with the rate, unusable above 130"
                  + " requests/s",
              "a cache in memory: flat up to 288 requests/s, the greatest rate that was offered",
              "the same proxy as the first, on a file system in memory: like the second, so that"
                  + " the disk is the cause",
              "left open: memory and disk off the peak, memory only at it; how a peak is noticed;"
                  + " the transients"));

  private static final double PEAK_RATE = 640;
  private static final double PEAK_TIMES = 4;
  private static final int OBJECTS = 8000;
  private static final double EXPONENT = 0.7;
  private static final double HIT_RATIO = 0.55;
  private static final double THINK_SCALE = 0.1;
  private static final long MEMORY_MIB = 48;
  private static final long SEEK_MICROS = 8000;
  private static final long DISK_BYTES_PER_SECOND = 80_000_000;
  private static final int CONNECTIONS = 6000;
  private static final int FILLING_CONNECTIONS = 2000;
  private static final int FILLING_RATE = 2000;
  private static final int FILLINGS = 4;
  private static final double FILLED_SHARE = 0.98;
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  private final Extent extent;
  private final PeakRuns runs = new PeakRuns();

  MemoryAtPeak(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  @Override
  public String setting() {
    PeakMix mix = mix(1);
    return String.format(
        Locale.ROOT,
        "Kamille with one loop on core 0, load and origin on core 1, over loopback, a connection"
            + " for each request, Poisson arrivals. %.0f %% of the requests are for a population of"
            + " %,d objects (%d MiB) by zipf(%.1f), the others for something new; 80 %% may be"
            + " stored. The origin thinks for 1.5 to 4.5 s scaled by %.1f. The disk is a model, one"
            + " arm with a queue: %.0f ms for a seek on average, evenly from half to one and a half"
            + " times that, and %d MB/s; writes cost a seek for each MiB. It makes %.0f reads per"
            + " second at the most; the load wants up to %.0f at the peak. Memory: %d MiB, which"
            + " answers somewhat more than half of the hits (the table says how many), and 1 MiB,"
            + " the least there is, for «disk only». Everything storable is written (admit:"
            + " always). Time to the first octet runs from the beginning of the connection to the"
            + " first octet of the response, as the paper has it. Every octet is compared. Which"
            + " tiers requests use is asked each second, which also makes the detector look.",
        HIT_RATIO * 100,
        OBJECTS,
        mix.populationBytes() >> 20,
        EXPONENT,
        THINK_SCALE,
        SEEK_MICROS / 1e3,
        DISK_BYTES_PER_SECOND / 1_000_000,
        1e6 / SEEK_MICROS,
        PEAK_RATE * HIT_RATIO,
        MEMORY_MIB);
  }

  @Override
  public int steps() {
    return extent.shapes().size() * PeakMode.values().length;
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      run.note("congestion control while this ran: " + CongestionControl.current());
      bench.moveTo(Core.OTHERS);
      Origin origin = Origin.start(bench);
      for (PeakShape shape : extent.shapes()) {
        for (PeakMode mode : PeakMode.values()) {
          run.step(mode.label() + ", " + shape.text());
          measure(bench, run, mode, shape, origin.port());
        }
      }
    }
  }

  private void measure(Workbench bench, LabRun run, PeakMode mode, PeakShape shape, int originPort)
      throws IOException {
    PeakMix mix = mix(1);
    String name = shape.label() + "-" + mode.name().toLowerCase(Locale.ROOT);
    try (var server = PeakServer.start(bench, name, mode, build(), originPort);
        var client = LoadClient.open(settings(server.port(), CONNECTIONS, 1))) {
      fill(server, mode, mix);
      long records = server.diskRecords();
      server.makeDiskSlow();
      var settling = RateSchedule.steady(shape.offPeakRate(), settling());
      client.run(Arrivals.poisson(settling, 2), mix);
      var series = new PeakSeries(shape.seconds(), mix::isRepeat);
      LoadResult load;
      try (var log = TierLog.begin(server.control())) {
        load = client.run(Arrivals.poisson(shape.schedule(), 3), mix, series);
        keep(run, name + "-tiers.csv", log.samples());
        runs.changed(mode, shape, log.transitions());
        if (log.missed() > 0) {
          run.note(name + ": the control plane did not answer " + log.missed() + " times");
        }
      }
      for (int second = 0; second < series.seconds(); second++) {
        run.keep(name + ".csv", runs.seconds(shape), series.sample(second, mode.label()));
      }
      run.keep(
          "runs.csv", runs.all(), runs.sample(mode, shape, series, records, load.isSaturated()));
      if (load.isSaturated()) {
        run.note(
            String.format(
                Locale.ROOT,
                "%s, %s: the client was at its own limit (busy %.0f %%, late by %.1f ms at p99)",
                mode.label(),
                shape.label(),
                load.busyRatio() * 100,
                load.latenessMicros(99) / 1e3));
      }
    }
  }

  private Duration settling() {
    return Duration.ofSeconds(extent.settlingSeconds());
  }

  private PeakServer.Build build() {
    return new PeakServer.Build(
        MEMORY_MIB, extent.diskMib(), CONNECTIONS, SEEK_MICROS, DISK_BYTES_PER_SECOND);
  }

  private static PeakMix mix(long seed) {
    return new PeakMix("origin.test", OBJECTS, EXPONENT, HIT_RATIO, THINK_SCALE, seed);
  }

  private static LoadSettings settings(int port, int connections, int uses) {
    return LoadSettings.persistent(port, connections)
        .withUsesPerConnection(uses)
        .withTimeLimit(TIME_LIMIT)
        .onSharedCore();
  }

  private static void fill(PeakServer server, PeakMode mode, PeakMix mix) throws IOException {
    try (var client =
        LoadClient.open(settings(server.port(), FILLING_CONNECTIONS, Integer.MAX_VALUE))) {
      Duration filling = Duration.ofSeconds(OBJECTS / FILLING_RATE);
      boolean isFilled = false;
      for (int i = 0; i < FILLINGS && !isFilled; i++) {
        run(client, filling, mix.filling());
        isFilled = !mode.hasDisk() || server.diskRecords() >= FILLED_SHARE * OBJECTS;
      }
      run(client, WARMING, mix.repeating());
    }
  }

  private static void run(LoadClient client, Duration duration, RequestSource requests)
      throws IOException {
    client.run(Arrivals.even(RateSchedule.steady(FILLING_RATE, duration)), requests);
  }

  private static void keep(LabRun run, String file, Samples samples) throws IOException {
    for (Sample sample : samples.all()) {
      run.keep(file, samples.titles(sample), samples.line(sample));
    }
  }

  @Override
  public void report(Report report) {
    runs.report(report);
    report.heading("Configuration of the cache in «auto»");
    report.code(build().cache(PeakMode.AUTO));
  }
}
