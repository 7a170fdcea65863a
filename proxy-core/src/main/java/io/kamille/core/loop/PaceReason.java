package io.kamille.core.loop;

/** Why a loop's interval is what it is. */
public enum PaceReason {
  /** Pacing is off. */
  OFF,
  /** The interval was set to one value. */
  FIXED,
  /** Too little arrives for a pause to gather anything: no pause. */
  LIGHT_LOAD,
  /** Polls cost too little, beside the rest, for pauses to save anything: no pause. */
  NO_GAIN,
  /** The interval grows, step by step. */
  CLIMBING,
  /** The longest interval that the latency budget allows. */
  AT_BUDGET,
  /** Turns take longer than the interval, so that no pause is left. */
  SATURATED,
  /** A turn or a batch was suddenly much larger than those before: the interval fell at once. */
  BACKLOG,
  /**
   * Fewer requests arrived once there were pauses: clients wait for us, so no pause for a while.
   */
  CLOSED_LOOP,
  /** For a moment no pause, to see what arrives without. */
  ASKING_AGAIN,
  /** No pause for about a second, to compare with a second in which there may be pauses. */
  JUDGING,
  /** A trial did not show that pauses save enough: no pause until the next trial. */
  SAVES_TOO_LITTLE
}
