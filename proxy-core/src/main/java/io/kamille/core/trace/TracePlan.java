package io.kamille.core.trace;

import org.jspecify.annotations.Nullable;

/**
 * What is to be recorded. Immutable; swapped whole.
 *
 * @param order null if nobody wants to see particular requests
 */
record TracePlan(TraceSettings settings, @Nullable TraceOrder order) {

  /** Whether nothing is. */
  boolean isIdle() {
    return order == null && !settings.isOn();
  }
}
