package io.kamille.admin.tuning;

import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How send buffers are tuned.
 *
 * @param policy who decides on sizes
 * @param budgetBytes content that all send buffers together may be allowed, where sizes are ours
 * @param minWatermarkBytes the least high-water mark in front of the kernel
 * @param maxWatermarkBytes the greatest one
 * @param period between two looks at a connection
 */
public record TuningSettings(
    TuningPolicy policy,
    long budgetBytes,
    long minWatermarkBytes,
    long maxWatermarkBytes,
    Duration period) {

  /**
   * By what factor a buffer is larger than throughput × round-trip time: lost segments stay in it
   * for a second round trip.
   */
  public static final double HEADROOM = 2;

  /** What suits most machines. */
  public static final TuningSettings DEFAULT =
      new TuningSettings(
          TuningPolicy.KERNEL, 256L << 20, 8L << 10, 512L << 10, Duration.ofSeconds(1));

  public static final Setting<Long> BUDGET =
      Setting.of(
              "budget",
              ValueTypes.size(64L << 10, 1L << 40),
              "Content that all send buffers together may be allowed with `equation`. While"
                  + " memory is short it is less, but lack of memory leaves 16 KiB for each"
                  + " connection.")
          .defaultsTo(DEFAULT.budgetBytes());

  public static final Section<TuningSettings> SECTION =
      Section.of(
          TuningSettings.class,
          Setting.of(
                  "policy",
                  TuningPolicy.type(),
                  "The policy of send buffers. `kernel`: the kernel tunes sizes, and Kamille bounds"
                      + " what was never sent by what each path can use. Large content from files"
                      + " has no bound while sockets hold less than `tuning.budget`. `equation`"
                      + " shares `tuning.budget` by estimated throughput. `off`: the kernel alone.")
              .defaultsTo(DEFAULT.policy()),
          BUDGET,
          Row.fixed(DEFAULT.minWatermarkBytes()),
          Row.fixed(DEFAULT.maxWatermarkBytes()),
          Row.fixed(DEFAULT.period()));

  /** With another policy. */
  public TuningSettings with(TuningPolicy policy) {
    return new TuningSettings(policy, budgetBytes, minWatermarkBytes, maxWatermarkBytes, period);
  }

  /** With another budget. */
  public TuningSettings withBudget(long budgetBytes) {
    return new TuningSettings(policy, budgetBytes, minWatermarkBytes, maxWatermarkBytes, period);
  }

  /** With other bounds of high-water marks: while memory is short, both are the least. */
  public TuningSettings withWatermarks(long minBytes, long maxBytes) {
    return new TuningSettings(policy, budgetBytes, minBytes, maxBytes, period);
  }
}
