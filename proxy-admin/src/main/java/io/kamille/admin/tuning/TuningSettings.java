package io.kamille.admin.tuning;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How send buffers are tuned.
 *
 * @param policy who decides on sizes
 * @param model how throughput follows from loss
 * @param budgetBytes content that all send buffers together may be allowed, where sizes are ours
 * @param headroom by what factor a buffer is larger than throughput × round-trip time
 * @param period between two looks at a connection
 */
public record TuningSettings(
    TuningPolicy policy, LossModel model, long budgetBytes, double headroom, Duration period) {

  /** What suits most machines. */
  public static final TuningSettings DEFAULT =
      new TuningSettings(
          TuningPolicy.KERNEL, LossModel.FITTED, 256L << 20, 2, Duration.ofSeconds(1));

  private static final ValueType<Long> BUDGET = ValueTypes.size(64L << 10, 1L << 40);

  public static final Section<TuningSettings> SECTION =
      Section.of(
          TuningSettings.class,
          Setting.of(
                  "policy",
                  TuningPolicy.type(),
                  "The policy of send buffers. `kernel`: the kernel tunes sizes, and Kamille bounds"
                      + " what was never sent by what each path can use. `equation`, `window` and"
                      + " `equal` share `tuning.budget` by estimated throughput, by congestion"
                      + " window, or equally. `off`: the kernel alone.")
              .defaultsTo(DEFAULT.policy()),
          Setting.of(
                  "model",
                  LossModel.type(),
                  "How throughput follows from loss: `fitted` to Reno and CUBIC of today's Linux,"
                      + " `padhye` with its time-outs, or the `square-root` bound.")
              .defaultsTo(DEFAULT.model()),
          Setting.of(
                  "budget",
                  BUDGET,
                  "Content that all send buffers together may be allowed with `equation`, `window`"
                      + " and `equal`. While memory is short it is less, but lack of memory leaves"
                      + " 16 KiB for each connection.")
              .defaultsTo(DEFAULT.budgetBytes()),
          Setting.of(
                  "headroom",
                  ValueTypes.number(1, 8),
                  "By what factor a send buffer is larger than throughput × round-trip time. Lost"
                      + " segments stay in the buffer for a second round trip.")
              .defaultsTo(DEFAULT.headroom()),
          Setting.of(
                  "period",
                  ValueTypes.duration(Duration.ofMillis(100), Duration.ofMinutes(1)),
                  "The time between two looks at a connection that writes.")
              .defaultsTo(DEFAULT.period()));

  /** How a budget is written. */
  public static ValueType<Long> budgetType() {
    return BUDGET;
  }

  /** With another policy. */
  public TuningSettings with(TuningPolicy policy) {
    return new TuningSettings(policy, model, budgetBytes, headroom, period);
  }

  /** With another budget. */
  public TuningSettings withBudget(long budgetBytes) {
    return new TuningSettings(policy, model, budgetBytes, headroom, period);
  }

  /** With another model. */
  public TuningSettings with(LossModel model) {
    return new TuningSettings(policy, model, budgetBytes, headroom, period);
  }
}
