package io.kamille.perf.lab;

import io.kamille.perf.option.Chosen;

/** How thoroughly an experiment is done. */
enum LabScale {
  /** Three minutes at most: to see that it works and what comes out roughly. */
  QUICK,
  /** Long enough to be believed, on a machine with nothing else to do. */
  NORMAL,
  /** As in the paper, as far as one machine goes: hours. */
  FULL;

  /** The one that was asked for. */
  static LabScale of(Chosen chosen) {
    if (chosen.has("--full")) {
      return FULL;
    }
    return chosen.has("--quick") ? QUICK : NORMAL;
  }
}
