package io.kamille.perf.lab;

import java.util.Locale;

/** A way in which send buffers are decided on. */
enum TunedWay {
  OFF("kernel alone"),
  KERNEL("kernel, bounded unsent"),
  EQUATION("by equation (E-ATBT)");

  private final String label;

  TunedWay(String label) {
    this.label = label;
  }

  /** For people. */
  String label() {
    return label;
  }

  /** In the words of the configuration. */
  String settings(String budget) {
    return "tuning:\n  policy: " + name().toLowerCase(Locale.ROOT) + "\n  budget: " + budget + "\n";
  }
}
