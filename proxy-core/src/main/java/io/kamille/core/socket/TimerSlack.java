package io.kamille.core.socket;

/**
 * How late the kernel may wake a thread that sleeps for a time, see {@code prctl(2)},
 * PR_SET_TIMERSLACK. Any thread; each has its own.
 */
public final class TimerSlack {

  /*
   * The kernel puts off a thread's timers by up to 50 µs so as to serve several with one interrupt.
   * A pause of a loop is of that order itself.
   */
  private static final int SET = 29;

  private TimerSlack() {}

  /**
   * Asks the kernel to wake the calling thread as exactly as it can.
   *
   * @return whether it agreed
   */
  public static boolean least() {
    return SystemCall.PRCTL.call(SET, 1, 0) == 0;
  }
}
