package io.kamille.cache.index;

import java.util.concurrent.atomic.AtomicInteger;

/** Who brings the order of an index up to date, and when. Any thread. */
interface Upkeep {

  /** There is something to do, soon. Waits for nobody. */
  void ask();

  /** There is something to do now. Waits for nobody. */
  void hurry();

  /** Whether the caller is who does it. */
  boolean isHere();

  /** How often doing it has failed, since the start. */
  long failures();

  /** Nothing is done any more once this returns: what is under way ends first. */
  void close();

  /** Does it at once, in whatever thread asks: for tests, and for measurements of policies. */
  static Upkeep inCaller(Runnable work) {
    AtomicInteger asked = new AtomicInteger();
    return new Upkeep() {
      @Override
      public void ask() {
        if (asked.getAndIncrement() == 0) {
          int done;
          do {
            done = asked.get();
            work.run();
          } while (asked.addAndGet(-done) != 0);
        }
      }

      @Override
      public void hurry() {
        ask();
      }

      @Override
      public boolean isHere() {
        return true;
      }

      @Override
      public long failures() {
        return 0;
      }

      @Override
      public void close() {}
    };
  }
}
