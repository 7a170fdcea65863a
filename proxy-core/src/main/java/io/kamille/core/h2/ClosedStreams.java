package io.kamille.core.h2;

import java.util.Arrays;

/**
 * How the streams of one connection ended that were the last to end. Frames may still come on them.
 * Confined to its loop.
 */
final class ClosedStreams {

  /*
   * A frame on a stream that we reset is no fault of the other side, for as long as one is on its
   * way. So those streams are remembered apart: others end by the hundred within one round trip.
   */
  private static final int REMEMBERED_ENDS = 256;
  private static final int REMEMBERED_RESETS = 1024;

  /** How a stream ended. */
  enum End {
    /** Nothing is known: it was never open, or that is long ago. */
    UNKNOWN,
    /** We reset it: what was on its way to us is no fault of the other side. */
    RESET_BY_US,
    /** The other side knows that it is closed. */
    KNOWN
  }

  private final Last ended = new Last(REMEMBERED_ENDS);
  private final Last reset = new Last(REMEMBERED_RESETS);

  /** Remembers one that has ended. */
  void add(int id, boolean resetByUs) {
    (resetByUs ? reset : ended).add(id);
  }

  End find(int id) {
    if (reset.has(id)) {
      return End.RESET_BY_US;
    }
    return ended.has(id) ? End.KNOWN : End.UNKNOWN;
  }

  /** The last streams of a kind. */
  private static final class Last {

    private final int most;
    private int[] ids = new int[8];
    private int next;

    Last(int most) {
      this.most = most;
    }

    void add(int id) {
      if (next == ids.length && next < most) {
        ids = Arrays.copyOf(ids, 2 * ids.length);
      }
      if (next == ids.length) {
        next = 0;
      }
      ids[next++] = id;
    }

    boolean has(int id) {
      for (int closed : ids) {
        if (closed == id) {
          return true;
        }
      }
      return false;
    }
  }
}
