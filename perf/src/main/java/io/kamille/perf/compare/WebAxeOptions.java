package io.kamille.perf.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How the WebAxe-4 comparison measures.
 *
 * @param common rounds, seconds at the fixed rate, connections, servers, name of the record
 * @param rate the fixed one, in requests per second; the search for the clean rate begins there
 * @param p99Millis what 99 of 100 latencies may not exceed at a clean rate
 * @param workingSetMib of all objects that may be asked for again
 * @param thinks whether the origin thinks for 300 ms on average, as in the paper, or answers at
 *     once
 * @param isQuick whether it is only to be seen that it works
 */
record WebAxeOptions(
    ComparisonOptions common,
    int rate,
    int p99Millis,
    int workingSetMib,
    boolean thinks,
    boolean isQuick) {

  /** What there is to say. */
  static final String HELP =
      """
      --rounds N        how often every server is asked in turn (default 3)
      --seconds N       at the fixed rate on one server in one round (default 10)
      --rate N          the fixed rate, requests per second (default 4000)
      --p99 MILLIS      what 99 of 100 latencies may take at a clean rate (default 50)
      --working-set MIB of all objects that may be asked for again (default 64; 1 GB in the paper)
      --think           the origin thinks for 300 ms on average, as in the paper; without it not at
                        all; --p99 then counts from 700 ms on
      --quick           1 round of 2 seconds, 8 MiB: to see that it works, not to believe it
      --connections N   of the client, used as often as zipf(16) says (default 500)
      --only A,B        these servers (default kamille,nginx): kamille, nginx, haproxy, varnish,
                        trafficserver, squid, apache
      --record NAME     keep the raw data in perf/log/data/NAME.csv and NAME-clean.csv
      """;

  private static final ComparisonOptions COMMON =
      new ComparisonOptions(3, 10, 500, List.of("kamille", "nginx"), null);
  private static final WebAxeOptions DEFAULT =
      new WebAxeOptions(COMMON, 4000, 50, 64, false, false);
  private static final int QUICK_WORKING_SET_MIB = 8;

  /** Think time is normal with a deviation of 100 ms: few think for longer. */
  private static final int LONG_THOUGHT_MILLIS = 700;

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static WebAxeOptions parse(List<String> words) {
    var options = DEFAULT;
    var rest = new ArrayList<String>();
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      switch (word) {
        case "--rate" -> options = options.withRate(ComparisonOptions.number(words, ++i));
        case "--p99" -> options = options.withP99(ComparisonOptions.number(words, ++i));
        case "--working-set" ->
            options = options.withWorkingSet(ComparisonOptions.number(words, ++i));
        case "--think" -> options = options.thinking();
        case "--quick" -> {
          options = options.quick();
          rest.addAll(0, List.of("--rounds", "1", "--seconds", "2"));
        }
        default -> rest.add(word);
      }
    }
    return options.withCommon(COMMON.parse(rest));
  }

  private WebAxeOptions withCommon(ComparisonOptions common) {
    if (common.only().contains("floor")) {
      throw new IllegalArgumentException("--only: floor (expected: a server that stores)");
    }
    return new WebAxeOptions(common, rate, p99Millis, workingSetMib, thinks, isQuick);
  }

  private WebAxeOptions withRate(int rate) {
    return new WebAxeOptions(common, rate, p99Millis, workingSetMib, thinks, isQuick);
  }

  private WebAxeOptions withP99(int millis) {
    return new WebAxeOptions(common, rate, millis, workingSetMib, thinks, isQuick);
  }

  private WebAxeOptions withWorkingSet(int mib) {
    return new WebAxeOptions(common, rate, p99Millis, mib, thinks, isQuick);
  }

  private WebAxeOptions thinking() {
    return new WebAxeOptions(common, rate, p99Millis, workingSetMib, true, isQuick);
  }

  private WebAxeOptions quick() {
    return new WebAxeOptions(common, rate, p99Millis, QUICK_WORKING_SET_MIB, thinks, true);
  }

  /** What 99 of 100 latencies may take at a clean rate, think time included. */
  double p99LimitMicros() {
    return (p99Millis + (thinks ? LONG_THOUGHT_MILLIS : 0)) * 1e3;
  }

  double thinkScale() {
    return thinks ? 1 : 0;
  }

  long workingSetBytes() {
    return (long) workingSetMib << 20;
  }

  /** What a server gets at a rate before it is measured there. */
  Duration settling() {
    return Duration.ofMillis(isQuick ? 300 : 500);
  }

  /** How long a rate is tried in the search for the clean one. */
  Duration trial() {
    return Duration.ofMillis(isQuick ? 700 : 1500);
  }
}
