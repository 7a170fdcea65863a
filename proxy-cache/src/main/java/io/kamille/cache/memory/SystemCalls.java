package io.kamille.cache.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The system calls that the arena's memory needs. Each returns what the kernel returns, or the
 * negative error number. Any thread.
 */
final class SystemCalls {

  static final int PROT_READ_WRITE = 0x1 | 0x2;
  static final int MAP_SHARED = 0x01;
  static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  static final int MFD_CLOEXEC = 0x1;
  static final int MFD_NOEXEC_SEAL = 0x8;
  static final int MADV_NOHUGEPAGE = 15;
  static final int EINTR = 4;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;

  private static final int FALLOC_FL_KEEP_SIZE_PUNCH_HOLE = 0x1 | 0x2;
  private static final long FAILED = -1;

  private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private SystemCalls() {}

  /** The one call here that is not made once in an arena's life keeps its handle. */
  private static final class Fallocate {
    private static final MethodHandle HANDLE =
        function("fallocate", FunctionDescriptor.of(INT, INT, INT, LONG, LONG));
  }

  private interface Call {
    long with(MemorySegment state) throws Throwable;
  }

  static long mmap(long bytes, int flags, int descriptor) {
    MethodHandle mmap =
        function("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG));
    return result(
        state -> (long) mmap.invokeExact(state, 0L, bytes, PROT_READ_WRITE, flags, descriptor, 0L));
  }

  static long munmap(long address, long bytes) {
    MethodHandle munmap = function("munmap", FunctionDescriptor.of(INT, LONG, LONG));
    return result(state -> (int) munmap.invokeExact(state, address, bytes));
  }

  static long madvise(long address, long bytes, int advice) {
    MethodHandle madvise = function("madvise", FunctionDescriptor.of(INT, LONG, LONG, INT));
    return result(state -> (int) madvise.invokeExact(state, address, bytes, advice));
  }

  static long memfdCreate(String name, int flags) {
    if (Linker.nativeLinker().defaultLookup().find("memfd_create").isEmpty()) {
      return -ENOSYS;
    }
    MethodHandle create =
        function("memfd_create", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT));
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment text = scope.allocateFrom(name);
      return result(state -> (int) create.invokeExact(state, text, flags));
    }
  }

  static long ftruncate(int descriptor, long bytes) {
    MethodHandle ftruncate = function("ftruncate", FunctionDescriptor.of(INT, INT, LONG));
    return result(state -> (int) ftruncate.invokeExact(state, descriptor, bytes));
  }

  /** Takes pages out of a file without changing its length: {@code fallocate(PUNCH_HOLE)}. */
  static long punchHole(int descriptor, long offset, long bytes) {
    return result(
        state ->
            (int)
                Fallocate.HANDLE.invokeExact(
                    state, descriptor, FALLOC_FL_KEEP_SIZE_PUNCH_HOLE, offset, bytes));
  }

  static long close(int descriptor) {
    MethodHandle close = function("close", FunctionDescriptor.of(INT, INT));
    return result(state -> (int) close.invokeExact(state, descriptor));
  }

  static int pageBytes() {
    MethodHandle getpagesize = function("getpagesize", FunctionDescriptor.of(INT));
    return (int) result(state -> (int) getpagesize.invokeExact(state));
  }

  private static long result(Call call) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment state = scope.allocate(CALL_STATE);
      long result = call.with(state);
      return result == FAILED ? -errno(state) : result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static int errno(MemorySegment state) {
    return state.get(INT, CALL_STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
  }

  @SuppressWarnings("restricted") // calls into the C library
  private static MethodHandle function(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), descriptor, CAPTURE_ERRNO);
  }
}
