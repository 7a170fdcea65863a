package io.kamille.cache.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file without a name that lies in memory only, mapped whole: what is written to the mapping can
 * be sent from the file, by sendfile(2), without being copied.
 *
 * <p>Any thread.
 */
class MemoryFile implements AutoCloseable {

  /*
   * A page that was sent belongs to the kernel's queues until the other side has read it: on the
   * loopback device even acknowledged octets are still the sender's pages. renew() takes pages out
   * of the file; the queues keep them, and the next touch of the mapping finds fresh ones.
   *
   * That holds for whole folios, the kernel's units of memory. A folio of which only a part is taken
   * out stays, and what is written to it next is what the queue sends. So whole slabs are sent and
   * taken out, and no folio is larger than a slab. A file's folio lies within the mapping at a
   * multiple of its own size, so the mapping begins where a slab does and twice a slab does not:
   * whatever huge pages the host allows, none larger fits. A slab in one folio is cheaper to send
   * and to replace than in sixteen pages; whether the kernel makes such folios is the host's choice
   * (hugepages-64kB/shmem_enabled).
   *
   * A kernel that grants memory strictly (vm.overcommit_memory = 2) promises none to such a file: a
   * write could end in SIGBUS where an anonymous mapping was refused at start, so there is no file
   * then.
   *
   * The kernel supplies a page when it is first touched, unless the file is kept full: then fresh
   * pages are supplied as they are renewed. If they cannot be had, they count as not renewed.
   */

  /** Makes a file of {@code bytes} octets whose mapping ends with {@code life}. */
  @FunctionalInterface
  interface Opening {

    /**
     * Takes the memory.
     *
     * @throws IOException if the system has no such files; the message says why
     */
    MemoryFile open(long bytes, Arena life) throws IOException;
  }

  private static final Path OVERCOMMIT = Path.of("/proc/sys/vm/overcommit_memory");
  private static final String STRICT = "2";

  private final int descriptor;
  private final FileChannel channel;
  private final MemorySegment memory;

  // Volatile: set at start, read by the thread that renews.
  private volatile boolean isKeptFull;

  MemoryFile(int descriptor, FileChannel channel, MemorySegment memory) {
    this.descriptor = descriptor;
    this.channel = channel;
    this.memory = memory;
  }

  /** As {@link Opening#open}, by memfd_create(2). */
  static MemoryFile open(long bytes, Arena life) throws IOException {
    if (Files.readString(OVERCOMMIT, StandardCharsets.US_ASCII).strip().equals(STRICT)) {
      throw new IOException("vm.overcommit_memory is 2, and promises no memory to files");
    }
    int descriptor = create("kamille-arena");
    try {
      checked("ftruncate", SystemCalls.ftruncate(descriptor, bytes));
      checked("fallocate", SystemCalls.punchHole(descriptor, 0, Slab.BYTES));
      FileChannel channel =
          FileChannel.open(Path.of("/proc/self/fd/" + descriptor), StandardOpenOption.READ);
      try {
        MemorySegment memory = map(descriptor, bytes, life);
        return new MemoryFile(descriptor, channel, memory);
      } catch (Throwable failed) {
        channel.close();
        throw failed;
      }
    } catch (Throwable failed) {
      SystemCalls.close(descriptor);
      throw failed;
    }
  }

  /** Kernels before 6.3 do not know that a file can be sealed against being executed. */
  private static int create(String name) throws IOException {
    int flags = SystemCalls.MFD_CLOEXEC;
    long created = SystemCalls.memfdCreate(name, flags | SystemCalls.MFD_NOEXEC_SEAL);
    if (created == -SystemCalls.EINVAL) {
      created = SystemCalls.memfdCreate(name, flags);
    }
    return (int) checked("memfd_create", created);
  }

  @SuppressWarnings("restricted") // calls into the C library
  private static MemorySegment map(int descriptor, long bytes, Arena life) throws IOException {
    long reserved = bytes + 2L * Slab.BYTES;
    long room = checked("mmap", SystemCalls.reserve(reserved));
    long address = ((room + Slab.BYTES - 1) & (-2L * Slab.BYTES)) + Slab.BYTES;
    SystemCalls.munmap(room, address - room);
    SystemCalls.munmap(address + bytes, room + reserved - address - bytes);
    try {
      checked("mmap", SystemCalls.mapShared(address, bytes, descriptor));
      long advised = SystemCalls.madvise(address, bytes, SystemCalls.MADV_HUGEPAGE);
      if (advised != -SystemCalls.EINVAL) {
        checked("madvise", advised);
      }
    } catch (IOException failed) {
      SystemCalls.munmap(address, bytes);
      throw failed;
    }
    return MemorySegment.ofAddress(address).reinterpret(bytes, life, AnonymousMapping::unmap);
  }

  private static long checked(String call, long result) throws IOException {
    if (result < 0) {
      throw new IOException(call + " failed, errno " + -result);
    }
    return result;
  }

  final int descriptor() {
    return descriptor;
  }

  /** The whole file, for reading and writing. */
  final MemorySegment memory() {
    return memory;
  }

  /** The whole file, for sending. */
  final FileChannel channel() {
    return channel;
  }

  /**
   * Puts fresh pages in the place of the whole slabs from {@code from} to {@code to}, whoever still
   * holds them. Their octets are lost.
   *
   * @return false if the kernel refuses; then the pages must not be written to
   */
  boolean renew(long from, long to) {
    long result;
    do {
      result = SystemCalls.punchHole(descriptor, from, to - from);
    } while (result == -SystemCalls.EINTR);
    return result == 0 && (!isKeptFull || fill(from, to) == 0);
  }

  /** Has every page supplied now, and from now on when pages are renewed; 0 or the error. */
  final long keepFull() {
    isKeptFull = true;
    return fill(0, memory.byteSize());
  }

  /** Has those pages supplied; 0 or the error. */
  long fill(long from, long to) {
    return SystemCalls.populate(memory.address() + from, to - from);
  }

  /** Closes the file; its mapping lives on. */
  @Override
  public final void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    SystemCalls.close(descriptor);
  }
}
