package io.kamille.core.socket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What the kernel does with a signal to this process, see {@code sigaction(2)}. Any thread. */
public final class SignalDisposition {

  private static final long IGNORED = 1;
  private static final int ACTION_BYTES = 32;
  private static final int SET_BYTES = 8;

  private SignalDisposition() {}

  /** If a signal is ignored, gives it the disposition of another one. */
  public static void unlessHeeded(int signal, int other) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment action = scope.allocate(ACTION_BYTES, Long.BYTES);
      SystemCall.RT_SIGACTION.call(signal, 0, action.address(), SET_BYTES, 0, 0);
      if (action.get(ValueLayout.JAVA_LONG, 0) == IGNORED) {
        SystemCall.RT_SIGACTION.call(other, 0, action.address(), SET_BYTES, 0, 0);
        SystemCall.RT_SIGACTION.call(signal, action.address(), 0, SET_BYTES, 0, 0);
      }
    }
  }
}
