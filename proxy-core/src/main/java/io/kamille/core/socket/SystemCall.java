package io.kamille.core.socket;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * What we ask the Linux kernel for that Java and Netty do not, see {@code syscall(2)}. Any thread.
 */
public enum SystemCall {
  ACCEPT4(288, 242),
  BIND(49, 200),
  CLOSE(3, 57),
  CONNECT(42, 203),
  FALLOCATE(285, 47),
  FCNTL(72, 25),
  FTRUNCATE(77, 46),
  GETSOCKNAME(51, 204),
  GETSOCKOPT(55, 209),
  LISTEN(50, 201),
  MADVISE(28, 233),
  MEMFD_CREATE(319, 279),
  MMAP(9, 222),
  MUNMAP(11, 215),
  OPENAT(257, 56),
  PRCTL(157, 167),
  RECVMSG(47, 212),
  RT_SIGACTION(13, 134),
  SENDMSG(46, 211),
  SETSOCKOPT(54, 208),
  SHUTDOWN(48, 210),
  SOCKET(41, 198);

  /*
   * All go through one native handle, because the first use of each further shape of a function
   * costs a start 12 ms. Every argument of a system call is a word of 64 bits, so one shape does.
   */
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO = CALL_STATE.byteOffset(PathElement.groupElement("errno"));
  private static final MethodHandle SYSCALL = syscall();
  private static final long FAILED = -1;

  private final long number;

  SystemCall(int onX8664, int onAarch64) {
    number = isAarch64() ? onAarch64 : onX8664;
  }

  private static boolean isAarch64() {
    return "aarch64".equals(System.getProperty("os.arch"));
  }

  @SuppressWarnings("restricted") // a call into the C library, of a function it always has
  private static MethodHandle syscall() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("syscall"),
        FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD),
        Linker.Option.firstVariadicArg(1),
        Linker.Option.captureCallState("errno"));
  }

  /** As {@link #call(long, long, long, long, long, long)}, with fewer arguments. */
  public long call(long first, long second, long third) {
    return call(first, second, third, 0, 0, 0);
  }

  /** What the kernel returns, or the negative error number. */
  public long call(long first, long second, long third, long fourth, long fifth, long sixth) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment state = scope.allocate(CALL_STATE);
      long result =
          (long) SYSCALL.invokeExact(state, number, first, second, third, fourth, fifth, sixth);
      return result == FAILED ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable impossible) {
      throw new AssertionError("syscall throws nothing", impossible);
    }
  }

  /** In words, why a call failed. */
  public static String reason(long result) {
    return switch ((int) -result) {
      case 1 -> "not permitted";
      case 2 -> "no such file";
      case 11 -> "timed out";
      case 13 -> "permission denied";
      case 24 -> "too many open files";
      case 32 -> "the other side is gone";
      case 98 -> "address in use";
      case 104 -> "reset by the other side";
      case 111 -> "nobody listens there";
      default -> "error " + -result;
    };
  }
}
