package io.kamille.perf.lab;

import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks a server each second which tiers its requests use, on a thread of its own. A sample's
 * situation is the second, its server the mode that it said: {@code normal} or {@code peak}. Any
 * thread.
 */
final class TierLog implements AutoCloseable {

  /** How long requests waited for the disk. */
  private static final Figure DISK = Figure.of("disk_ms");

  private static final Figure QUEUE = Figure.of("queue");
  private static final Figure QUIET = Figure.of("quiet_ms");
  private static final Figure ORIGIN = Figure.of("origin_ms");
  private static final Figure TRIAL_READS = Figure.of("trial_reads");
  private static final Figure SKIPPED_READS = Figure.of("skipped_reads");
  private static final Figure REASON = Figure.of("reason");
  private static final long SECOND_NANOS = 1_000_000_000L;

  private final ControlPlane control;
  private final JsonMapper json = new JsonMapper();
  private final Samples samples = new Samples("second", "mode");
  private final AtomicInteger missed = new AtomicInteger();
  private final Thread thread =
      Thread.ofPlatform().name("lab-tiers").daemon().unstarted(this::look);
  private final long beginNanos;

  private TierLog(ControlPlane control, long nanos) {
    this.control = control;
    this.beginNanos = nanos;
  }

  /** Begins to ask; that is second 0. */
  static TierLog begin(ControlPlane control) {
    var log = new TierLog(control, System.nanoTime());
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
        JsonNode peak = json.readTree(control.get("/v1/cache/tiers")).path("peak");
        if (peak.isObject()) {
          samples.add(sample(second, peak));
        }
      } catch (IOException busy) {
        missed.incrementAndGet();
      }
    }
  }

  private static Sample sample(int second, JsonNode peak) {
    return Sample.of(Integer.toString(second), peak.path("mode").asString(""), 1)
        .with(DISK, peak.path("readMillis").asDouble())
        .with(QUEUE, peak.path("queue").asDouble())
        .with(QUIET, peak.path("quietReadMillis").asDouble())
        .with(ORIGIN, peak.path("originMillis").asDouble())
        .with(TRIAL_READS, peak.path("trialReads").asInt())
        .with(SKIPPED_READS, peak.path("skippedReads").asLong())
        .with(REASON, peak.path("reason").asString(""));
  }

  /** Seconds in which it did not answer. */
  int missed() {
    return missed.get();
  }

  /** What it said so far. */
  Samples samples() {
    return samples;
  }

  /** When the mode changed, and why. */
  List<String> transitions() {
    var changes = new ArrayList<String>();
    String before = "normal";
    for (Sample sample : samples.all()) {
      if (!sample.server().equals(before)) {
        before = sample.server();
        changes.add(
            String.format(
                Locale.ROOT,
                "at %s s %s mode: %s",
                sample.situation(),
                before,
                sample.text(REASON)));
      }
    }
    return changes;
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
