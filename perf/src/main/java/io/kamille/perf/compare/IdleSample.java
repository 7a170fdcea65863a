package io.kamille.perf.compare;

import io.kamille.perf.host.MemoryUse;

/**
 * The memory of one server before and after many connections were opened and left idle.
 *
 * @param liveHeapBefore octets of live Java objects, 0 for servers that have none
 */
record IdleSample(
    String server,
    int round,
    int connections,
    MemoryUse before,
    MemoryUse after,
    long liveHeapBefore,
    long liveHeapAfter) {

  /** Process memory for one connection: what the process grew by, and the objects in its heap. */
  double bytesPerConnection() {
    return nativeBytesPerConnection() + heapBytesPerConnection();
  }

  double nativeBytesPerConnection() {
    return (double) (after.proportionalBytes() - before.proportionalBytes()) / connections;
  }

  double heapBytesPerConnection() {
    return (double) (liveHeapAfter - liveHeapBefore) / connections;
  }
}
