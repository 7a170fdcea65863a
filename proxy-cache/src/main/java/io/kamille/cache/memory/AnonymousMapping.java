package io.kamille.cache.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory straight from the kernel: private, all zero, and none of it present until it is touched.
 */
final class AnonymousMapping {

  /*
   * java.lang.foreign.Arena.allocate writes zeros over what it hands out, which makes every page of
   * a cache of many GiB present at start. So the mapping is asked for with mmap(2), and the segment
   * keeps the arena's life check: access after close is an exception. MAP_NORESERVE is left out,
   * so that a capacity the machine can never have is refused now and not by the OOM killer later.
   */

  private static final int PROT_READ_WRITE = 0x1 | 0x2;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  private static final long MAP_FAILED = -1;

  private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

  private AnonymousMapping() {}

  /**
   * Maps {@code bytes} octets, unmapped when {@code life} closes.
   *
   * @throws IllegalStateException if the kernel refuses
   */
  @SuppressWarnings("restricted")
  static MemorySegment map(long bytes, Arena life) {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment state = call.allocate(CALL_STATE);
      long address =
          (long)
              mmap().invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
      if (address == MAP_FAILED) {
        int errno =
            state.get(
                ValueLayout.JAVA_INT,
                CALL_STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
        throw new IllegalStateException(
            "capacityBytes: "
                + bytes
                + " (expected: memory the kernel can give; mmap failed, errno "
                + errno
                + ")");
      }
      return MemorySegment.ofAddress(address).reinterpret(bytes, life, AnonymousMapping::unmap);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static void unmap(MemorySegment mapped) {
    try {
      int result = (int) munmap().invokeExact(mapped.address(), mapped.byteSize());
      assert result == 0;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle mmap() {
    return function(
        "mmap",
        FunctionDescriptor.of(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG),
        CAPTURE_ERRNO);
  }

  private static MethodHandle munmap() {
    return function(
        "munmap",
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  }

  @SuppressWarnings("restricted")
  private static MethodHandle function(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, options);
  }
}
