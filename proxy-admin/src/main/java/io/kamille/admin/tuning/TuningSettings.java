package io.kamille.admin.tuning;

import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How send buffers are tuned.
 *
 * @param policy who decides on sizes
 * @param budgetBytes content that all send buffers together may be allowed, where sizes are ours
 * @param period between two looks at a connection
 */
public record TuningSettings(TuningPolicy policy, long budgetBytes, Duration period) {

  /**
   * By what factor a buffer is larger than throughput × round-trip time: lost segments stay in it
   * for a second round trip.
   */
  public static final double HEADROOM = 2;

  /** What suits most machines. */
  public static final TuningSettings DEFAULT =
      new TuningSettings(TuningPolicy.KERNEL, 256L << 20, Duration.ofSeconds(1));

  private static final ValueType<Long> BUDGET = ValueTypes.size(64L << 10, 1L << 40);

  public static final Section<TuningSettings> SECTION =
      Section.of(
          TuningSettings.class,
          Setting.of(
                  "policy",
                  TuningPolicy.type(),
                  "The policy of send buffers. `kernel`: the kernel tunes sizes, and Kamille bounds"
                      + " what was never sent by what each path can use. `equation` shares"
                      + " `tuning.budget` by estimated throughput. `off`: the kernel alone.")
              .defaultsTo(DEFAULT.policy()),
          Setting.of(
                  "budget",
                  BUDGET,
                  "Content that all send buffers together may be allowed with `equation`. While"
                      + " memory is short it is less, but lack of memory leaves 16 KiB for each"
                      + " connection.")
              .defaultsTo(DEFAULT.budgetBytes()),
          Row.fixed(DEFAULT.period()));

  /** How a budget is written. */
  public static ValueType<Long> budgetType() {
    return BUDGET;
  }

  /** With another policy. */
  public TuningSettings with(TuningPolicy policy) {
    return new TuningSettings(policy, budgetBytes, period);
  }

  /** With another budget. */
  public TuningSettings withBudget(long budgetBytes) {
    return new TuningSettings(policy, budgetBytes, period);
  }
}
