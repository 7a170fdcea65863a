package io.kamille.core.loop;

import io.kamille.core.socket.TimerSlack;
import java.util.concurrent.locks.LockSupport;

/** Time as a loop knows it: how late it is, and how to let some of it pass. The machine's. */
interface LoopClock {

  LoopClock SYSTEM = new LoopClock() {};

  /** Monotonic nanoseconds. */
  default long nanos() {
    return System.nanoTime();
  }

  /** The calling thread's sleeps end as exactly as the machine can. */
  default void beExact() {
    TimerSlack.least();
  }

  /** Sleeps for at most so long; may return early, as {@link LockSupport#parkNanos} may. */
  default void park(long nanos) {
    LockSupport.parkNanos(nanos);
  }

  /** Lets another thread run, if one waits for this processor. */
  @SuppressWarnings("ThreadPriorityCheck") // a neighbour shall run, if there is one
  default void letOthersRun() {
    Thread.yield();
  }

  /** Ends the sleep of a thread, or its next one. Any thread. */
  default void unpark(Thread thread) {
    LockSupport.unpark(thread);
  }
}
