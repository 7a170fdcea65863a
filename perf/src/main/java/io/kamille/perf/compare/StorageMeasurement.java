package io.kamille.perf.compare;

import com.sun.management.ThreadMXBean;
import io.kamille.cache.index.Policy;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySimulation;
import io.kamille.cache.index.PolicySimulation.Result;
import io.kamille.cache.index.Trace;
import io.kamille.cache.index.Traces;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.tiers.FilledStore;
import io.kamille.core.http.ResponseHead;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;

/** What policies hit on made-up traces, and what memory a stored response takes. */
public final class StorageMeasurement {

  /*
   * Hit ratios come from a simulation, the same on every machine. Memory is that of this process:
   * the live heap after collections, and the resident pages, before and after ten million responses
   * have come and gone.
   */
  private static final long REQUESTS = 2_000_000;
  private static final long MIB = 1L << 20;
  private static final long[] CAPACITIES = {64 * MIB, 256 * MIB};
  private static final double GOAL_POINTS = 0.5;
  private static final double PERCENT = 100;

  private static final int RESPONSES = 500_000;
  private static final int CONTENT_BYTES = 1024;

  /** Lengths differ by so much, or rounding would be a matter of luck. */
  private static final int SPREAD_BYTES = 64;

  private static final int LOOK_UPS = 1_000_000;
  private static final int CHURN = 10_000_000;
  private static final long ARENA_BYTES = 1024 * MIB;

  private final FilledStore filled = FilledStore.open(ARENA_BYTES);
  private ResponseHead head = ResponseHead.of(200, "Cache-Control", "max-age=3600");

  private StorageMeasurement() {}

  /** Measures and prints. */
  public static void run() throws IOException {
    new LinkedHashMap<>(HostFingerprint.take(Checkout.find()).facts())
        .forEach((name, value) -> System.out.println(name + ": " + value));
    for (long capacity : CAPACITIES) {
      printHitRatios(capacity);
    }
    var memory = new StorageMeasurement();
    memory.printOverhead("without validators");
    memory.printGarbage();
    memory.printChurn();
    memory.filled.close();
    var validated = new StorageMeasurement();
    validated.head =
        ResponseHead.of(
            200,
            "Cache-Control",
            "max-age=3600",
            "ETag",
            "\"5f3b-61d2a7c8e4f00\"",
            "Last-Modified",
            "Sun, 15 Nov 2026 08:12:31 GMT");
    validated.printOverhead("with ETag and Last-Modified");
    validated.filled.close();
    StoreRate.print();
  }

  private static void printHitRatios(long capacity) {
    System.out.printf(
        Locale.ROOT,
        "%nhits of the second half of %,d requests, objects / octets in %%, %d MiB%n%n",
        REQUESTS,
        capacity / MIB);
    var table =
        new Table(
            "trace",
            "auto",
            "tinylfu",
            "lru",
            "caffeine",
            "auto ends with",
            "near the better",
            "not below caffeine");
    for (Trace trace : Traces.all()) {
      Result[] results = new Result[PolicyChoice.values().length];
      List<String> cells = new ArrayList<>(List.of(trace.name()));
      for (PolicyChoice choice : PolicyChoice.values()) {
        Result result = PolicySimulation.run(trace, choice, capacity, REQUESTS, REQUESTS / 2);
        results[choice.ordinal()] = result;
        cells.add(text(result));
      }
      Result caffeine = PolicySimulation.runCaffeine(trace, capacity, REQUESTS, REQUESTS / 2);
      cells.add(text(caffeine));
      Result auto = results[PolicyChoice.AUTO.ordinal()];
      Result lru = results[PolicyChoice.LRU.ordinal()];
      Result tinylfu = results[PolicyChoice.TINYLFU.ordinal()];
      double better = Math.max(lru.objects(), tinylfu.objects());
      cells.add(auto.last() == Policy.LRU ? "lru" : "tinylfu");
      boolean isReached = (better - auto.objects()) * PERCENT <= GOAL_POINTS;
      cells.add(isReached ? "reached" : "missed");
      cells.add(auto.objects() >= caffeine.objects() ? "reached" : "missed");
      table.row(cells);
    }
    System.out.println(table);
  }

  private static String text(Result result) {
    return String.format(
        Locale.ROOT, "%.1f / %.1f", result.objects() * PERCENT, result.bytes() * PERCENT);
  }

  private void printOverhead(String kind) {
    long before = FilledStore.liveBytes();
    long stored = 0;
    for (int i = 0; i < RESPONSES; i++) {
      stored += store(i);
    }
    double heap = (double) (FilledStore.liveBytes() - before) / RESPONSES;
    double rounding =
        (double) (filled.store().figures().memory().storedBytes() - stored) / RESPONSES;
    System.out.printf(
        Locale.ROOT,
        "%n%,d responses with about %d octets of content, %s: on the heap %.0f octets each, lost to"
            + " rounding %.0f, together %.0f; charged %.0f%n",
        RESPONSES,
        CONTENT_BYTES,
        kind,
        heap,
        rounding,
        heap + rounding,
        (double) filled.store().figures().memory().indexBytes() / RESPONSES);
  }

  private void printGarbage() {
    var thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    CacheKey key = FilledStore.key(uri(0));
    for (int i = 0; i < LOOK_UPS; i++) {
      filled.store().find(key);
    }
    long before = thread.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < LOOK_UPS; i++) {
      filled.store().find(key);
    }
    System.out.printf(
        Locale.ROOT,
        "garbage of a look-up that finds something, with the judge in the same thread: %.1f"
            + " octets%n",
        (double) (thread.getCurrentThreadAllocatedBytes() - before) / LOOK_UPS);
  }

  private void printChurn() throws IOException {
    var table = new Table("responses stored", "keys", "arena used MiB", "resident MiB");
    for (int i = 0; i <= CHURN; i++) {
      if (i % (CHURN / 5) == 0) {
        table.row(
            List.of(
                String.format(Locale.ROOT, "%,d", i),
                String.format(Locale.ROOT, "%,d", filled.store().size()),
                Long.toString(filled.arena().usedBytes() / MIB),
                Long.toString(residentBytes() / MIB)));
      }
      store(i);
    }
    System.out.println();
    System.out.println(table);
  }

  private static String uri(int number) {
    return "http://www.example.org/" + number;
  }

  /** Stores one, and says how many octets it has. */
  private long store(int number) {
    int length = CONTENT_BYTES - SPREAD_BYTES / 2 + number % SPREAD_BYTES;
    return filled.put(uri(number), head, length);
  }

  private static long residentBytes() throws IOException {
    FilledStore.liveBytes();
    return MemoryUse.of(ProcessHandle.current().pid()).residentBytes();
  }
}
