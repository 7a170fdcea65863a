package io.kamille.perf.lab;

import java.util.Locale;

/** A way in which send buffers are decided on. */
enum BufferWay {
  OFF("kernel alone"),
  KERNEL("kernel, bounded unsent"),
  EQUAL("equal split"),
  WINDOW("by window (ATBT)"),
  EQUATION("by equation (E-ATBT)");

  final String label;

  BufferWay(String label) {
    this.label = label;
  }

  /** Whether a {@link SendBufferSplit} decides. Kamille then bounds what is unsent, no more. */
  boolean isFromOutside() {
    return this == EQUAL || this == WINDOW;
  }

  /** In the words of the configuration. */
  String settings(long budgetBytes) {
    String policy = isFromOutside() ? "kernel" : name().toLowerCase(Locale.ROOT);
    return "tuning:\n  policy: " + policy + "\n  budget: " + (budgetBytes >> 10) + "KiB\n";
  }
}
