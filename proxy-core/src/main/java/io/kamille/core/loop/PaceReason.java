package io.kamille.core.loop;

/** Why a loop's interval is what it is. */
public enum PaceReason {
  /** Pacing is off. */
  OFF,
  /** The interval was set to one value. */
  FIXED,
  /** Too little arrives for a pause to gather anything: no pause. */
  LIGHT_LOAD,
  /** A trial goes on: each interval holds for some milliseconds, and so does none. */
  TRYING,
  /** The interval that saved the most processor time in the last trial. */
  SAVES,
  /** The last trial showed no interval to save enough: no pause until the next trial. */
  SAVES_TOO_LITTLE,
  /** The load has changed since the last trial began: no pause until the next trial. */
  OTHER_LOAD,
  /** As SAVES_TOO_LITTLE, and with pauses fewer requests arrived: clients wait for us. */
  CLOSED_LOOP
}
