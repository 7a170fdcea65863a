package io.kamille.perf.wan;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

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
  private static final long PIDFD_OPEN = 434;
  private static final long PIDFD_GETFD = 438;
  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUFFORCE = 32;

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
  private static final MethodHandle SYSCALL = call("syscall", INT, LONG, LONG, LONG, LONG);
  private static final MethodHandle SETSOCKOPT = call("setsockopt", INT, INT, INT, INT, LONG, INT);

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
    return checked("open " + path, rarely(OPEN, scope.allocateFrom(path).address(), flags, 0));
  }

  void ioctl(int descriptor, long request, MemorySegment argument) throws IOException {
    checked("ioctl", rarely(IOCTL, descriptor, request, argument.address()));
  }

  /** Moves the calling thread into the network namespace of that descriptor. */
  void enterNetwork(int descriptor) throws IOException {
    checked("setns", rarely(SETNS, descriptor, NEW_NETWORK));
  }

  /** Gives the calling thread real-time priority, unless the kernel refuses. */
  void becomeRealTime(int priority) {
    time.set(INT, 0, priority);
    rarely(SCHEDULE, 0, SCHED_FIFO, time.address());
  }

  /** Lets timers of the calling thread be late by a nanosecond only. */
  void sharpenTimers() {
    rarely(PRCTL, SET_TIMER_SLACK, 1L);
  }

  /** A descriptor of that process. */
  int process(long pid) throws IOException {
    return checked("pidfd_open", rarely(SYSCALL, PIDFD_OPEN, pid, 0L, 0L));
  }

  /** A copy of a descriptor that another process has. */
  int copy(int process, int descriptor) throws IOException {
    return checked(
        "pidfd_getfd", rarely(SYSCALL, PIDFD_GETFD, (long) process, (long) descriptor, 0L));
  }

  /** Sets SO_SNDBUF, which the kernel doubles, without the limit of wmem_max. */
  void sendBuffer(int socket, int bytes) throws IOException {
    time.set(INT, 0, bytes);
    checked(
        "setsockopt", rarely(SETSOCKOPT, socket, SOL_SOCKET, SO_SNDBUFFORCE, time.address(), 4));
  }

  void close(int descriptor) {
    rarely(CLOSE, descriptor);
  }

  /** A call so seldom that boxes do not matter. */
  private int rarely(MethodHandle call, Object... arguments) {
    var all = new ArrayList<Object>(List.of(arguments));
    all.addFirst(state);
    try {
      return (int) call.invokeWithArguments(all);
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
