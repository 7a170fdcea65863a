package io.kamille.core.socket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * File descriptors as the kernel numbers them, for those that come from other processes. Any
 * thread.
 */
public final class Descriptors {

  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int F_DUPFD_CLOEXEC = 1030;

  private static final int SOL_SOCKET = 1;
  private static final int SO_ACCEPTCONN = 30;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SOCKADDR_IN6_BYTES = 28;

  private Descriptors() {}

  /** Whether it is a socket that listens. */
  public static boolean isListening(int descriptor) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment value = scope.allocate(ValueLayout.JAVA_INT);
      MemorySegment length = scope.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
      long got =
          SystemCall.GETSOCKOPT.call(
              descriptor, SOL_SOCKET, SO_ACCEPTCONN, value.address(), length.address(), 0);
      return got == 0 && value.get(ValueLayout.JAVA_INT, 0) == 1;
    }
  }

  /** Where a socket of IP is bound; null if it is another kind of file. */
  public static @Nullable InetSocketAddress localAddress(int descriptor) {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment name = scope.allocate(SOCKADDR_IN6_BYTES, Integer.BYTES);
      MemorySegment length = scope.allocateFrom(ValueLayout.JAVA_INT, SOCKADDR_IN6_BYTES);
      if (SystemCall.GETSOCKNAME.call(descriptor, name.address(), length.address()) < 0) {
        return null;
      }
      ByteBuffer octets = name.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
      byte[] address =
          switch (name.get(ValueLayout.JAVA_SHORT, 0)) {
            case AF_INET -> new byte[4];
            case AF_INET6 -> new byte[16];
            default -> new byte[0];
          };
      if (address.length == 0) {
        return null;
      }
      octets.position(address.length == 4 ? 4 : 8).get(address);
      return new InetSocketAddress(
          InetAddress.getByAddress(address), Short.toUnsignedInt(octets.getShort(2)));
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Closes one that nobody uses any more. */
  public static void close(int descriptor) {
    SystemCall.CLOSE.call(descriptor, 0, 0);
  }

  /**
   * Another number for the same file, closed by whoever owns it.
   *
   * @throws IllegalStateException if the limit of descriptors is reached
   */
  public static int copyOf(int descriptor) {
    long copy = SystemCall.FCNTL.call(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
      throw new IllegalStateException("descriptor " + descriptor + ": " + SystemCall.reason(copy));
    }
    return (int) copy;
  }

  /** Reads, writes and accepts never wait from now on, as a loop must have it. */
  public static void neverBlock(int descriptor) {
    long flags = SystemCall.FCNTL.call(descriptor, F_GETFL, 0);
    if (flags >= 0) {
      SystemCall.FCNTL.call(descriptor, F_SETFL, flags | O_NONBLOCK);
    }
  }
}
