package io.kamille.admin.tuning;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.socket.SendBuffer;
import java.nio.file.Path;

/** The tuner of a running process, and what it counts. */
public final class TuningMetrics {

  static final MetricDescriptor BUDGET =
      MetricDescriptor.gauge(
          "kamille_tuning_budget_bytes",
          Unit.BYTES,
          "The budget of all send buffers together: as configured, or less while memory is short."
              + " It binds with the policy equation.");

  static final MetricDescriptor ALLOCATED =
      MetricDescriptor.gauge(
          "kamille_tuning_allocated_bytes",
          Unit.BYTES,
          "Octets of that budget that connections are allowed.");

  static final MetricDescriptor HELD =
      MetricDescriptor.gauge(
          "kamille_tuning_held_bytes",
          Unit.BYTES,
          "Octets that wait for clients: in front of the kernel, unsent in it, and sent but not"
              + " acknowledged. Stored responses are not counted twice.");

  static final MetricDescriptor FAIRNESS =
      MetricDescriptor.gauge(
          "kamille_tuning_fairness_ratio",
          Unit.RATIO,
          "Jain's index of what connections carry in parts of what their paths could; 1 if all"
              + " alike.");

  private TuningMetrics() {}

  /**
   * A tuner whose figures are in {@code registry}.
   *
   * @param system what a connection has that nobody tuned
   */
  public static BufferTuner tuner(
      TuningSettings settings, SendBuffer system, MetricRegistry registry) {
    Path proc = Path.of("/proc");
    var tuner =
        new BufferTuner(
            settings,
            system,
            KernelLimits.read(proc),
            new MemoryPressure(proc)::now,
            new TuningHistograms(registry),
            System::nanoTime);
    registry.gauge(BUDGET, () -> tuner.snapshot().budgetBytes());
    registry.gauge(ALLOCATED, () -> tuner.snapshot().allocatedBytes());
    registry.gauge(HELD, () -> tuner.snapshot().heldBytes());
    registry.gauge(FAIRNESS, () -> tuner.snapshot().fairness());
    return tuner;
  }
}
