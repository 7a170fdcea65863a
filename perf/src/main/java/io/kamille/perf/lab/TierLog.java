package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.peer.ControlPlane;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks a Kamille each second which tiers requests use, which also makes the detector look. Any
 * thread.
 */
final class TierLog implements AutoCloseable {

  /** The mode from then on, and why. */
  record Change(double seconds, String mode, String reason) {

    /** Whether peak mode began in these seconds. */
    boolean isPeakWithin(Stretch stretch) {
      return mode.equals("peak") && seconds >= stretch.from() && seconds < stretch.to();
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "at %.0f s %s mode: %s", seconds, mode, reason);
    }
  }

  private final ControlPlane control;
  private final JsonMapper json = new JsonMapper();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final List<Change> transitions = new CopyOnWriteArrayList<>();
  private final long beginNanos = System.nanoTime();
  private String mode = "normal";
  private volatile String policy = "–";

  /** Begins to ask. */
  TierLog(ControlPlane control) {
    this.control = control;
    timer.scheduleAtFixedRate(this::sample, 0, 1, TimeUnit.SECONDS);
  }

  private void sample() {
    try {
      JsonNode tiers = json.readTree(control.get("/v1/cache/tiers"));
      policy = tiers.at("/memory/policy/policy").asString(policy);
      JsonNode peak = tiers.path("peak");
      String now = peak.path("mode").asString(mode);
      if (!now.equals(mode)) {
        mode = now;
        double seconds = (System.nanoTime() - beginNanos) / 1e9;
        transitions.add(new Change(seconds, now, peak.path("reason").asString("")));
      }
    } catch (IOException busy) {
      // It is asked again in a second; a change is seen later then.
      return;
    }
  }

  /** How memory made room, the last time it was asked. */
  String policy() {
    return policy;
  }

  /** When the mode changed, and why. */
  List<Change> transitions() {
    return transitions;
  }

  /** Ends it, before the server ends. */
  @Override
  public void close() {
    timer.close();
  }
}
