package io.kamille.perf.load;

/** Where a proxy had an answer from, by the Cache-Status of Kamille. */
public enum AnswerSource {
  /** Stored, in memory. */
  MEMORY,
  /** Stored, on the disk. */
  DISK,
  /** Not stored, or nothing was said about it. */
  ORIGIN;

  /** Whether the answer was stored. */
  public boolean isHit() {
    return this != ORIGIN;
  }
}
