package io.kamille.cache.disk;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What this thread takes from the heap. */
final class Allocation {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocation() {}

  /** How many octets were taken while {@code work} was done, whether they are still held or not. */
  static long bytes(Runnable work) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    work.run();
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }
}
