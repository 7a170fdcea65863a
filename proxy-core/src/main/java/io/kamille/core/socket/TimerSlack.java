package io.kamille.core.socket;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

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
  private static final int GET = 30;

  private TimerSlack() {}

  /**
   * Asks the kernel to wake the calling thread as exactly as it can.
   *
   * @return whether it agreed
   */
  public static boolean least() {
    return prctl(SET, 1) == 0;
  }

  /** The slack of the calling thread in nanoseconds, -1 if the kernel does not tell. */
  public static int nanos() {
    return prctl(GET, 0);
  }

  @SuppressWarnings("restricted") // a call into the C library, of a function it always has
  private static int prctl(int option, long argument) {
    Linker linker = Linker.nativeLinker();
    Optional<MemorySegment> function = linker.defaultLookup().find("prctl");
    if (function.isEmpty()) {
      return -1;
    }
    MethodHandle call =
        linker.downcallHandle(
            function.get(),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    try {
      return (int) call.invokeExact(option, argument);
    } catch (Throwable impossible) {
      throw new AssertionError("prctl throws nothing", impossible);
    }
  }
}
