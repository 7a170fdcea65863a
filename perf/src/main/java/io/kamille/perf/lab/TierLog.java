package io.kamille.perf.lab;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Asks a server each second which tiers its requests use, on a thread of its own. Any thread. */
final class TierLog implements AutoCloseable {

  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final String PATH = "/v1/cache/tiers";

  /**
   * What it said.
   *
   * @param mode {@code normal} or {@code peak}
   * @param diskMillis how long requests waited for the disk
   */
  record Entry(
      int second,
      String mode,
      String reason,
      double diskMillis,
      double queue,
      double quietMillis,
      double originMillis,
      int trialReads,
      long skippedReads) {

    static final String TITLES =
        "second,mode,disk_ms,queue,quiet_ms,origin_ms,trial_reads,skipped_reads,reason";

    String line() {
      return String.format(
          Locale.ROOT,
          "%d,%s,%.3f,%.2f,%.3f,%.3f,%d,%d,\"%s\"",
          second,
          mode,
          diskMillis,
          queue,
          quietMillis,
          originMillis,
          trialReads,
          skippedReads,
          reason);
    }

    private static Entry of(int second, JsonNode peak) {
      return new Entry(
          second,
          peak.path("mode").asString(""),
          peak.path("reason").asString(""),
          peak.path("readMillis").asDouble(),
          peak.path("queue").asDouble(),
          peak.path("quietReadMillis").asDouble(),
          peak.path("originMillis").asDouble(),
          peak.path("trialReads").asInt(),
          peak.path("skippedReads").asLong());
    }
  }

  private final PeakServer server;
  private final JsonMapper json = new JsonMapper();
  private final List<Entry> entries = new CopyOnWriteArrayList<>();
  private final AtomicInteger missed = new AtomicInteger();
  private final Thread thread =
      Thread.ofPlatform().name("lab-tiers").daemon().unstarted(this::look);
  private final long beginNanos;

  private TierLog(PeakServer server, long nanos) {
    this.server = server;
    this.beginNanos = nanos;
  }

  /** Begins to ask; that is second 0. */
  static TierLog begin(PeakServer server) {
    var log = new TierLog(server, System.nanoTime());
    log.thread.start();
    return log;
  }

  private void look() {
    for (int second = 0; !Thread.currentThread().isInterrupted(); second++) {
      long due = beginNanos + second * SECOND_NANOS;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
        if (Thread.currentThread().isInterrupted()) {
          return;
        }
      }
      try {
        JsonNode peak = json.readTree(server.get(PATH)).path("peak");
        if (peak.isObject()) {
          entries.add(Entry.of(second, peak));
        }
      } catch (IOException busy) {
        missed.incrementAndGet();
      }
    }
  }

  /** Seconds in which it did not answer. */
  int missed() {
    return missed.get();
  }

  List<Entry> entries() {
    return List.copyOf(entries);
  }

  /** Ends it, before the server ends. */
  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
