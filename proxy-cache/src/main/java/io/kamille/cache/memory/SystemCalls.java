package io.kamille.cache.memory;

import io.kamille.core.socket.SystemCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The system calls that the arena's memory needs. Each returns what the kernel returns, or the
 * negative error number. Any thread.
 */
final class SystemCalls {

  static final int MAP_SHARED = 0x01;
  static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
  static final int MFD_CLOEXEC = 0x1;
  static final int MFD_NOEXEC_SEAL = 0x8;
  static final int MADV_NOHUGEPAGE = 15;
  private static final int MADV_POPULATE_WRITE = 23;
  static final int EINTR = 4;
  static final int EINVAL = 22;

  private static final int AT_FDCWD = -100;
  private static final int O_RDWR = 0x2;
  private static final int O_CLOEXEC = 0x80000;
  private static final int F_OFD_GETLK = 36;
  private static final int F_OFD_SETLK = 37;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;

  /** struct flock: type 2, whence 2, pad 4, start 8, length 8, process 4, pad 4. */
  private static final int LOCK_BYTES = 32;

  private static final int PROT_READ_WRITE = 0x1 | 0x2;
  private static final int FALLOC_FL_KEEP_SIZE_PUNCH_HOLE = 0x1 | 0x2;

  /** Pairs of a type and a value, see {@code getauxval(3)}. */
  private static final Path AUXILIARY_VECTOR = Path.of("/proc/self/auxv");

  private static final long AT_PAGESZ = 6;

  private SystemCalls() {}

  static long mmap(long bytes, int flags, int descriptor) {
    return SystemCall.MMAP.call(0, bytes, PROT_READ_WRITE, flags, descriptor, 0);
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

  /** Opens a file that is there, for reading and writing. */
  static long open(String path) {
    try (Arena scope = Arena.ofConfined()) {
      return SystemCall.OPENAT.call(
          AT_FDCWD, scope.allocateFrom(path).address(), O_RDWR | O_CLOEXEC);
    }
  }

  /** Locks one octet of a file for this opening of it, see {@code F_OFD_SETLK}. */
  static long lock(int descriptor, long at) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment lock = lock(scope, at, 1);
      return SystemCall.FCNTL.call(descriptor, F_OFD_SETLK, lock.address());
    }
  }

  /** Whether another opening of the file has locked any of those octets; 1 if so, 0 if not. */
  static long isLocked(int descriptor, long from, long length) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment lock = lock(scope, from, length);
      long result = SystemCall.FCNTL.call(descriptor, F_OFD_GETLK, lock.address());
      return result < 0 || lock.get(ValueLayout.JAVA_SHORT, 0) == F_UNLCK ? result : 1;
    }
  }

  private static MemorySegment lock(Arena scope, long from, long length) {
    MemorySegment lock = scope.allocate(LOCK_BYTES, Long.BYTES);
    lock.set(ValueLayout.JAVA_SHORT, 0, F_WRLCK);
    lock.set(ValueLayout.JAVA_LONG, 8, from);
    lock.set(ValueLayout.JAVA_LONG, 16, length);
    return lock;
  }

  static long close(int descriptor) {
    return SystemCall.CLOSE.call(descriptor, 0, 0);
  }

  static int pageBytes() {
    try {
      ByteBuffer words =
          ByteBuffer.wrap(Files.readAllBytes(AUXILIARY_VECTOR)).order(ByteOrder.nativeOrder());
      while (words.remaining() >= 2 * Long.BYTES) {
        long type = words.getLong();
        long value = words.getLong();
        if (type == AT_PAGESZ) {
          return Math.toIntExact(value);
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    throw new IllegalStateException(AUXILIARY_VECTOR + " names no AT_PAGESZ");
  }
}
