package io.kamille.perf.wan;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The system calls of the emulator. Those of each packet neither allocate nor throw; the others
 * name themselves and the error number when they fail. One thread.
 */
final class Posix {

  static final int READ_WRITE = 2;
  static final int NON_BLOCKING = 0x800;
  static final int CLOSE_ON_EXEC = 0x80000;
  static final int POLL_IN = 1;

  private static final int NEW_NETWORK = 0x4000_0000;
  private static final int SCHED_FIFO = 1;
  private static final int SET_TIMER_SLACK = 29;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final Linker.Option VARIADIC = Linker.Option.firstVariadicArg(2);

  private static final MethodHandle READ = call("read", LONG, INT, LONG, LONG);
  private static final MethodHandle WRITE = call("write", LONG, INT, LONG, LONG);
  private static final MethodHandle PPOLL = call("ppoll", INT, LONG, LONG, LONG, LONG);
  private static final MethodHandle SETNS = call("setns", INT, INT, INT);
  private static final MethodHandle CLOSE = call("close", INT, INT);
  private static final MethodHandle SCHEDULE = call("sched_setscheduler", INT, INT, INT, LONG);
  private static final MethodHandle OPEN =
      variadic("open", FunctionDescriptor.of(INT, LONG, INT, INT));
  private static final MethodHandle IOCTL =
      variadic("ioctl", FunctionDescriptor.of(INT, INT, LONG, LONG));
  private static final MethodHandle PRCTL = call("prctl", INT, INT, LONG);

  private final Arena scope;
  private final MemorySegment state;
  private final MemorySegment time;

  /** Calls whose memory lives as long as that scope. */
  Posix(Arena scope) {
    this.scope = scope;
    state = scope.allocate(STATE);
    time = scope.allocate(16, 8);
  }

  @SuppressWarnings("restricted") // calls into the C library
  private static MethodHandle call(String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
  }

  @SuppressWarnings("restricted") // calls into the C library
  private static MethodHandle variadic(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), descriptor, ERRNO, VARIADIC);
  }

  /** Octets read, or less than one if there was no packet. */
  int read(int descriptor, long address, int bytes) {
    try {
      return (int) (long) READ.invokeExact(state, descriptor, address, (long) bytes);
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /** Octets written, or less than one if the device did not take the packet. */
  int write(int descriptor, long address, int bytes) {
    try {
      return (int) (long) WRITE.invokeExact(state, descriptor, address, (long) bytes);
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /** Waits for one of the descriptors of a {@code struct pollfd} array, for that long at most. */
  void poll(MemorySegment polled, long count, long nanos) {
    time.set(LONG, 0, nanos / 1_000_000_000);
    time.set(LONG, 8, nanos % 1_000_000_000);
    try {
      int ready = (int) PPOLL.invokeExact(state, polled.address(), count, time.address(), 0L);
      assert ready >= -1;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  int open(String path, int flags) throws IOException {
    long address = scope.allocateFrom(path).address();
    try {
      return checked("open " + path, (int) OPEN.invokeExact(state, address, flags, 0));
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  void ioctl(int descriptor, long request, MemorySegment argument) throws IOException {
    try {
      checked("ioctl", (int) IOCTL.invokeExact(state, descriptor, request, argument.address()));
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /** Moves the calling thread into the network namespace of that descriptor. */
  void enterNetwork(int descriptor) throws IOException {
    try {
      checked("setns", (int) SETNS.invokeExact(state, descriptor, NEW_NETWORK));
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /** Gives the calling thread real-time priority, unless the kernel refuses. */
  void becomeRealTime(int priority) {
    time.set(INT, 0, priority);
    try {
      int ignored = (int) SCHEDULE.invokeExact(state, 0, SCHED_FIFO, time.address());
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /** Lets timers of the calling thread be late by a nanosecond only. */
  void sharpenTimers() {
    try {
      int result = (int) PRCTL.invokeExact(state, SET_TIMER_SLACK, 1L);
      assert result == 0;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  void close(int descriptor) {
    try {
      int result = (int) CLOSE.invokeExact(state, descriptor);
      assert result == 0;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  private int checked(String call, int result) throws IOException {
    if (result < 0) {
      int errno = state.get(INT, STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
      throw new IOException(call + ": error " + errno);
    }
    return result;
  }

  private static AssertionError impossible(Throwable e) {
    return new AssertionError("calls into the C library throw nothing", e);
  }
}
