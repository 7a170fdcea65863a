package io.kamille.core.loop;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where a loop is, so that whoever gives it a task knows how to wake it. The loop moves it; any
 * thread asks.
 */
final class WakeState {

  /*
   * The loop says where it is going to sleep before it looks at its queue for the last time; a
   * giver puts the task into the queue before it looks where the loop is. Both are volatile
   * accesses, so one of them sees the other (Dekker): either the loop finds the task and does not
   * sleep, or the giver finds the loop on its way to sleep and wakes it.
   *
   *   loop    RUNNING ──► PAUSED ──► RUNNING ──► IN_DELEGATE ──► RUNNING
   *   giver               PAUSED ──► RUNNING, then unpark
   *
   * In the delegate its own wake-up holds. Running, the loop comes to its queue by itself. Of
   * several givers one ends the pause; that the permit of unpark may arrive after the pause is over
   * costs the next one a look at the queue, no more.
   */
  enum Place {
    RUNNING,
    PAUSED,
    IN_DELEGATE
  }

  /** What a giver has to do once its task is in the queue. */
  enum Wake {
    NOTHING,
    UNPARK,
    DELEGATE
  }

  private static final int RUNNING = Place.RUNNING.ordinal();
  private static final int PAUSED = Place.PAUSED.ordinal();
  private static final int IN_DELEGATE = Place.IN_DELEGATE.ordinal();

  private final AtomicInteger place = new AtomicInteger(RUNNING);

  /** The loop is about to look at its queue and then pause. */
  void pausing() {
    place.set(PAUSED);
  }

  /** The loop is about to let its delegate look at the queue and block. */
  void delegating() {
    place.set(IN_DELEGATE);
  }

  /** The loop works, and will look at its queue. */
  void running() {
    place.set(RUNNING);
  }

  /** Whether nobody has ended the pause. */
  boolean isPaused() {
    return place.get() == PAUSED;
  }

  /** Any thread, after its task is in the queue. */
  Wake wake() {
    return wake(seen());
  }

  /** The first half of {@link #wake()}. */
  int seen() {
    return place.get();
  }

  /** The second half: what was seen is acted upon, though the loop may have gone on meanwhile. */
  Wake wake(int seen) {
    if (seen == PAUSED) {
      return place.compareAndSet(PAUSED, RUNNING) ? Wake.UNPARK : Wake.NOTHING;
    }
    return seen == IN_DELEGATE ? Wake.DELEGATE : Wake.NOTHING;
  }
}
