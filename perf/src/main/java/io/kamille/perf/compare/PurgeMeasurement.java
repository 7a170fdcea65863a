package io.kamille.perf.compare;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OperatorPurges;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.removal.Sweeper;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.tiers.FilledStore;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** What a purge by tag costs when a million responses are stored, in this process. */
public final class PurgeMeasurement {

  /*
   * Every response has as many tags as GROUPS has sizes: one that it shares with a thousand others,
   * one with ten thousand, one with all. A purge is measured from the call to its return, which is
   * when it holds; then the first lookup of a response it is about, one of all that are left, and
   * the sweep, which only gives the memory back. The sweep runs here, by hand, after the lookups.
   */
  private static final int RESPONSES = 1_000_000;
  private static final int[] GROUPS = {1000, 10_000, RESPONSES};
  private static final int TAGS = GROUPS.length;
  private static final long ARENA_BYTES = 1L << 30;
  private static final int ROUNDS = 20;
  private static final int WARMUP_ROUNDS = 20;
  private static final int LOOKUPS = 200_000;
  private static final double MICROS = 1e3;
  private static final double MILLIS = 1e6;

  private final FilledStore filled = FilledStore.open(ARENA_BYTES);
  private final TieredStore store = filled.store();
  private final PurgeTable table = filled.purges();
  private final List<Runnable> sweeps = new ArrayList<>();
  private final Sweeper sweeper = new Sweeper(store, table, sweeps::add);
  private final WallClock clock = WallClock.system();
  private final OperatorPurges purges =
      new OperatorPurges(
          new Removals(
              store, new InFlightTable(clock, table), table, sweeper, new RouteQueries(), clock),
          sweeper,
          clock);
  private final CacheKey[] keys = new CacheKey[RESPONSES];

  private PurgeMeasurement() {}

  /** Measures and prints. */
  public static void run() throws IOException {
    new LinkedHashMap<>(HostFingerprint.take(Checkout.find()).facts())
        .forEach((name, value) -> System.out.println(name + ": " + value));
    long before = FilledStore.liveBytes();
    var plain = new PurgeMeasurement();
    plain.fill(false);
    long untagged = FilledStore.liveBytes() - before;
    plain.filled.close();
    before = FilledStore.liveBytes();
    var tagged = new PurgeMeasurement();
    tagged.fill(true);
    long more = FilledStore.liveBytes() - before - untagged;
    System.out.printf(
        Locale.ROOT,
        "%nheap per response without tags %.0f bytes, more with %d tags %.0f bytes: %.1f per"
            + " tag%n%n",
        (double) untagged / RESPONSES,
        TAGS,
        (double) more / RESPONSES,
        (double) more / RESPONSES / TAGS);
    tagged.measure();
    tagged.filled.close();
  }

  private void fill(boolean isTagged) {
    for (int i = 0; i < RESPONSES; i++) {
      keys[i] = store(i, isTagged);
    }
  }

  private CacheKey store(int number, boolean isTagged) {
    String uri = "http://www.example.org/" + number;
    ResponseHead plain = ResponseHead.of(200, "Cache-Control", "max-age=3600");
    ResponseHead head =
        isTagged
            ? ResponseHead.of(200, "Cache-Control", "max-age=3600", "Surrogate-Key", tagsOf(number))
            : plain;
    filled.put(uri, plain, facts(RequestHead.of("GET", uri), head, clock.epochSeconds()), 0);
    return FilledStore.key(uri);
  }

  private static StoredFacts facts(RequestHead request, ResponseHead head, long now) {
    return StoredFacts.of(head, CachePolicy.DEFAULT, now, now)
        .tagged(Tags.of(request, head.fields()));
  }

  private static String tagsOf(int number) {
    var tags = new StringBuilder();
    for (int size : GROUPS) {
      tags.append(tag(size, number)).append(' ');
    }
    return tags.toString().strip();
  }

  private static String tag(int size, int number) {
    return "of-" + size + "-" + number % (RESPONSES / size);
  }

  private void measure() {
    var result =
        new Table(
            "purge of a tag on",
            "answer µs",
            "first stale lookup µs",
            "a lookup after it, ns",
            "sweep ms");
    for (int i = 0; i < WARMUP_ROUNDS; i++) {
      purge(GROUPS[0], i);
    }
    for (int size : GROUPS) {
      var rounds = new ArrayList<double[]>();
      int count = size == RESPONSES ? 1 : ROUNDS;
      for (int i = 0; i < count; i++) {
        rounds.add(purge(size, WARMUP_ROUNDS + i));
      }
      result.row(
          List.of(
              String.format(Locale.ROOT, "%,d of %,d", size, RESPONSES),
              Spread.of(rounds, round -> round[0]).text(1),
              Spread.of(rounds, round -> round[1]).text(1),
              Spread.of(rounds, round -> round[2]).text(0),
              Spread.of(rounds, round -> round[3]).text(1)));
    }
    System.out.println(result);
  }

  /**
   * OperatorPurges one tag; microseconds, microseconds, nanoseconds and milliseconds as in the
   * table.
   */
  private double[] purge(int size, int number) {
    int first = number % (RESPONSES / size);
    long begin = System.nanoTime();
    PurgeReport report = purges.purge(PurgeTarget.tags(List.of(tag(size, number))), false);
    long answered = System.nanoTime();
    Objects.requireNonNull(report);
    if (store.find(keys[first]) != null) {
      throw new IllegalStateException("a purged response was found");
    }
    long gone = System.nanoTime();
    for (int i = 0; i < LOOKUPS; i++) {
      store.find(keys[(int) (i * 7919L % RESPONSES)]);
    }
    long looked = System.nanoTime();
    sweeps.forEach(Runnable::run);
    sweeps.clear();
    long swept = System.nanoTime();
    return new double[] {
      (answered - begin) / MICROS,
      (gone - answered) / MICROS,
      (double) (looked - gone) / LOOKUPS,
      (swept - looked) / MILLIS
    };
  }
}
