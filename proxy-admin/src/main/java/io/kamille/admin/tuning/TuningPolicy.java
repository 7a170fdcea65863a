package io.kamille.admin.tuning;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;

/** Who decides how large send buffers are. */
public enum TuningPolicy {
  /** The kernel, and nothing is looked at. */
  OFF,
  /** The kernel, but what was never sent is bounded by what each path can use. */
  KERNEL,
  /** By estimated throughput × round-trip time, what is left over in proportion (E-ATBT). */
  EQUATION;

  /** Whether the size is ours to decide, not the kernel's. */
  public boolean isSizing() {
    return this == EQUATION;
  }

  /** As a setting. */
  public static ValueType<TuningPolicy> type() {
    return ValueTypes.oneOf(values());
  }
}
