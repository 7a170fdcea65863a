package io.kamille.perf.lab;

import io.kamille.perf.load.SurgeClients;
import io.kamille.perf.load.TransferRates;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Users of the web who draw pages, lengths and pauses as SURGE says, each with a seed that is the
 * same in each run.
 *
 * @param haste divides every pause
 * @param address of each, counted from 0
 */
record WebUsers(int count, boolean arePersistent, int haste, IntFunction<String> address)
    implements TunedRun.Load {

  static final Figure RESPONSES = Figure.of("responses_per_second");
  static final Figure MILLIS = Figure.of("millis");
  static final Figure IDLE = Figure.of("client_idle_share");

  private static final int OF_LINK = 200;
  private static final String PATH = "delay=10ms rate=100mbit";
  private static final long SEED = 8;

  /** Octets a second of a size class, the mean over its documents. */
  static Figure rate(String sizeClass) {
    return Figure.of("bytes_per_second " + sizeClass);
  }

  /** Persistent connections over paths, in no haste. */
  static WebUsers overPaths(int count) {
    return new WebUsers(count, true, 1, i -> Namespaces.address(i / OF_LINK + 1, i % OF_LINK + 1));
  }

  @Override
  public List<LinkSettings> links() {
    return IntStream.rangeClosed(0, (count - 1) / OF_LINK)
        .mapToObj(link -> LinkSettings.symmetric("users" + link, PATH))
        .toList();
  }

  @Override
  public Sample run(Duration settling, Duration counted, Sample sample) throws IOException {
    List<String> locals = IntStream.range(0, count).mapToObj(address).toList();
    SurgeClients.Outcome outcome =
        SurgeClients.run(
            WanServer.address(),
            WanServer.authority(),
            locals,
            arePersistent,
            SEED,
            haste,
            settling,
            counted);
    TransferRates.CLASSES.forEach(each -> sample.with(rate(each), outcome.rates().mean(each)));
    return sample
        .with(RESPONSES, (double) outcome.responses() / counted.toSeconds())
        .with(MILLIS, outcome.meanNanos() / 1e6)
        .with(IDLE, outcome.idleShare());
  }
}
