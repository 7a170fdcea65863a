package io.kamille.core.h2;

import org.jspecify.annotations.Nullable;

/**
 * The streams that have something to send, in the order of RFC 9218 §10: by urgency, then those
 * that are of use only whole in the order of their ids, then the incremental ones by turns.
 * Confined to its loop.
 */
final class SendQueue {

  /*
   * Two lists for each urgency; a stream is itself the link. `levels` has a bit for each list that
   * has a member, so that the first of all is found at once, and none is looked for in vain.
   */
  private final @Nullable H2Stream[] first = new H2Stream[2 * Priority.LEVELS];
  private final @Nullable H2Stream[] last = new H2Stream[2 * Priority.LEVELS];
  private int levels;

  boolean isEmpty() {
    return levels == 0;
  }

  /** The stream whose turn it is, or null. */
  @Nullable H2Stream first() {
    return levels == 0 ? null : first[Integer.numberOfTrailingZeros(levels)];
  }

  /** Adds a stream, if it is not there. */
  void add(H2Stream stream) {
    if (stream.isQueued) {
      return;
    }
    stream.isQueued = true;
    int level = level(stream);
    H2Stream before = last[level];
    if (!stream.priority.isIncremental()) {
      while (before != null && before.id() > stream.id()) {
        before = before.previous;
      }
    }
    link(stream, before, level);
    levels |= 1 << level;
  }

  private void link(H2Stream stream, @Nullable H2Stream before, int level) {
    H2Stream behind = before == null ? first[level] : before.next;
    stream.previous = before;
    stream.next = behind;
    if (before == null) {
      first[level] = stream;
    } else {
      before.next = stream;
    }
    if (behind == null) {
      last[level] = stream;
    } else {
      behind.previous = stream;
    }
  }

  /** Takes a stream out, if it is there. */
  void remove(H2Stream stream) {
    if (!stream.isQueued) {
      return;
    }
    stream.isQueued = false;
    int level = level(stream);
    H2Stream before = stream.previous;
    H2Stream behind = stream.next;
    if (before == null) {
      first[level] = behind;
    } else {
      before.next = behind;
    }
    if (behind == null) {
      last[level] = before;
    } else {
      behind.previous = before;
    }
    stream.previous = null;
    stream.next = null;
    if (first[level] == null) {
      levels &= ~(1 << level);
    }
  }

  /** The stream has had its turn. */
  void turn(H2Stream stream) {
    if (stream.isQueued && stream.priority.isIncremental()) {
      remove(stream);
      add(stream);
    }
  }

  private static int level(H2Stream stream) {
    return 2 * stream.priority.urgency() + (stream.priority.isIncremental() ? 1 : 0);
  }
}
