package io.kamille.core.loop;

import io.kamille.core.socket.TimerSlack;
import java.util.concurrent.locks.LockSupport;

/** Time as a loop knows it: how late it is, and how to let some of it pass. */
interface LoopClock {

  /** The machine's. */
  LoopClock SYSTEM =
      new LoopClock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void beExact() {
          TimerSlack.least();
        }

        @Override
        public void park(long nanos) {
          LockSupport.parkNanos(nanos);
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // a neighbour shall run, if there is one
        public void letOthersRun() {
          Thread.yield();
        }

        @Override
        public void unpark(Thread thread) {
          LockSupport.unpark(thread);
        }
      };

  /** Monotonic nanoseconds. */
  long nanos();

  /** The calling thread's sleeps end as exactly as the machine can. */
  void beExact();

  /** Sleeps for at most so long; may return early, as {@link LockSupport#parkNanos} may. */
  void park(long nanos);

  /** Lets another thread run, if one waits for this processor. */
  void letOthersRun();

  /** Ends the sleep of a thread, or its next one. Any thread. */
  void unpark(Thread thread);
}
