package io.kamille.cache.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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

  private AnonymousMapping() {}

  /**
   * Maps {@code bytes} octets, unmapped when {@code life} closes.
   *
   * @throws IllegalStateException if the kernel refuses
   */
  @SuppressWarnings("restricted") // calls into the C library
  static MemorySegment map(long bytes, Arena life) {
    long address = SystemCalls.mapAnonymous(bytes);
    if (address < 0) {
      throw new IllegalStateException(
          "capacityBytes: "
              + bytes
              + " (expected: memory the kernel can give; mmap failed, errno "
              + -address
              + ")");
    }
    return MemorySegment.ofAddress(address).reinterpret(bytes, life, AnonymousMapping::unmap);
  }

  /** Whether the kernel would map that much: asks, and gives it back. */
  static void check(long bytes) {
    try (Arena trial = Arena.ofConfined()) {
      map(bytes, trial);
    }
  }

  static void unmap(MemorySegment mapped) {
    long result = SystemCalls.munmap(mapped.address(), mapped.byteSize());
    assert result == 0;
  }
}
