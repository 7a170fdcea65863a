package io.kamille.cache.memory;

import io.kamille.core.socket.SystemCall;
import java.lang.foreign.Arena;

/**
 * The system calls that the arena's memory needs. Each returns what the kernel returns, or the
 * negative error number. Any thread.
 */
final class SystemCalls {

  private static final int MAP_SHARED = 0x01;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  private static final int MAP_FIXED = 0x10;
  private static final int MAP_NORESERVE = 0x4000;
  static final int MFD_CLOEXEC = 0x1;
  static final int MFD_NOEXEC_SEAL = 0x8;
  static final int MADV_HUGEPAGE = 14;
  private static final int MADV_POPULATE_WRITE = 23;
  static final int EINTR = 4;
  static final int EINVAL = 22;

  private static final int PROT_NONE = 0;
  private static final int PROT_READ_WRITE = 0x1 | 0x2;
  private static final int FALLOC_FL_KEEP_SIZE_PUNCH_HOLE = 0x1 | 0x2;

  private SystemCalls() {}

  static long mapAnonymous(long bytes) {
    return SystemCall.MMAP.call(0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
  }

  /** Takes addresses without memory. */
  static long reserve(long bytes) {
    return SystemCall.MMAP.call(0, bytes, PROT_NONE, MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }

  /** Maps a file from its beginning on at addresses that were reserved. */
  static long mapShared(long address, long bytes, int descriptor) {
    return SystemCall.MMAP.call(
        address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
  }

  static long munmap(long address, long bytes) {
    return SystemCall.MUNMAP.call(address, bytes, 0);
  }

  static long madvise(long address, long bytes, int advice) {
    return SystemCall.MADVISE.call(address, bytes, advice);
  }

  /** Has every page of a mapping present and writable, without a change of its octets. */
  static long populate(long address, long bytes) {
    long result;
    do {
      result = madvise(address, bytes, MADV_POPULATE_WRITE);
    } while (result == -EINTR);
    return result;
  }

  static long memfdCreate(String name, int flags) {
    try (Arena scope = Arena.ofConfined()) {
      return SystemCall.MEMFD_CREATE.call(scope.allocateFrom(name).address(), flags, 0);
    }
  }

  static long ftruncate(int descriptor, long bytes) {
    return SystemCall.FTRUNCATE.call(descriptor, bytes, 0);
  }

  /** Takes pages out of a file without changing its length: {@code fallocate(PUNCH_HOLE)}. */
  static long punchHole(int descriptor, long offset, long bytes) {
    return SystemCall.FALLOCATE.call(
        descriptor, FALLOC_FL_KEEP_SIZE_PUNCH_HOLE, offset, bytes, 0, 0);
  }

  static long close(int descriptor) {
    return SystemCall.CLOSE.call(descriptor, 0, 0);
  }
}
