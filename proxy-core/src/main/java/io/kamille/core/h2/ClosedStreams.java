package io.kamille.core.h2;

import java.util.Arrays;

/**
 * How the streams of one connection ended that were the last to end. Frames may still come on them.
 * Confined to its loop.
 */
final class ClosedStreams {

  /** How a stream ended. */
  enum End {
    /** Nothing is known: it was never open, or that is long ago. */
    UNKNOWN,
    /** We reset it: what was on its way to us is no fault of the other side. */
    RESET_BY_US,
    /** The other side knows that it is closed. */
    KNOWN
  }

  private static final int REMEMBERED = 256;

  private int[] ids = new int[16];
  private int next;

  /** Remembers one that has ended. */
  void add(int id, boolean resetByUs) {
    if (next == ids.length && next < REMEMBERED) {
      ids = Arrays.copyOf(ids, 2 * ids.length);
    }
    if (next == ids.length) {
      next = 0;
    }
    ids[next++] = resetByUs ? -id : id;
  }

  End find(int id) {
    for (int closed : ids) {
      if (closed == id) {
        return End.KNOWN;
      }
      if (closed == -id) {
        return End.RESET_BY_US;
      }
    }
    return End.UNKNOWN;
  }
}
