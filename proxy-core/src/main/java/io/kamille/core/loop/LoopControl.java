package io.kamille.core.loop;

/** What the loops of a group are told from outside. Any thread. */
final class LoopControl {

  // Volatile: a loop looks at both once per turn and acts on what it saw last.
  private volatile PaceSettings settings;
  private volatile boolean hasIdleProcessors;

  LoopControl(PaceSettings settings) {
    this.settings = settings;
  }

  PaceSettings settings() {
    return settings;
  }

  void settings(PaceSettings next) {
    settings = next;
  }

  /** Whether enough processors are idle for every loop to spin. */
  boolean hasIdleProcessors() {
    return hasIdleProcessors;
  }

  void hasIdleProcessors(boolean has) {
    hasIdleProcessors = has;
  }
}
