package io.kamille.perf.wan;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** Our end of a TUN device in a network namespace: whole IP packets, without any header more. */
final class TunDevice {

  private static final long SET_INTERFACE = 0x400454caL;
  private static final short TUN_WITHOUT_HEADER = 0x0001 | 0x1000;
  private static final int REQUEST_BYTES = 40;
  private static final int FLAGS_OFFSET = 16;

  private final Posix posix;
  private final int descriptor;

  private TunDevice(Posix posix, int descriptor) {
    this.posix = posix;
    this.descriptor = descriptor;
  }

  /**
   * Opens the device of that namespace. The calling thread is back in its own when this returns.
   */
  static TunDevice open(Posix posix, Path network, String name) throws IOException {
    int home = posix.open("/proc/thread-self/ns/net", Posix.CLOSE_ON_EXEC);
    int there = posix.open(network.toString(), Posix.CLOSE_ON_EXEC);
    posix.enterNetwork(there);
    try {
      return new TunDevice(posix, attach(posix, name));
    } finally {
      posix.enterNetwork(home);
      posix.close(there);
      posix.close(home);
    }
  }

  private static int attach(Posix posix, String name) throws IOException {
    int descriptor =
        posix.open("/dev/net/tun", Posix.READ_WRITE | Posix.NON_BLOCKING | Posix.CLOSE_ON_EXEC);
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment request = scope.allocate(REQUEST_BYTES, Long.BYTES);
      request.setString(0, name);
      request.set(ValueLayout.JAVA_SHORT, FLAGS_OFFSET, TUN_WITHOUT_HEADER);
      posix.ioctl(descriptor, SET_INTERFACE, request);
      return descriptor;
    } catch (IOException e) {
      posix.close(descriptor);
      throw e;
    }
  }

  int descriptor() {
    return descriptor;
  }

  int read(long address) {
    return posix.read(descriptor, address, PacketPool.SLOT_BYTES);
  }

  boolean write(long address, int bytes) {
    return posix.write(descriptor, address, bytes) == bytes;
  }

  void close() {
    posix.close(descriptor);
  }
}
