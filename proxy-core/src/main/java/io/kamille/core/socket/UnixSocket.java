package io.kamille.core.socket;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A blocking socket of the Unix domain that passes messages and file descriptors, see {@code
 * unix(7)}. Java's own does neither. One thread at a time may send, and one receive.
 */
public final class UnixSocket implements AutoCloseable {

  /*
   * struct sockaddr_un  family 2 | path 108
   * struct iovec        base 8 | length 8
   * struct msghdr       name 8 | namelen 4 | pad 4 | iov 8 | iovlen 8 | control 8 | controllen 8
   *                     | flags 4 | pad 4
   * struct cmsghdr      len 8 | level 4 | type 4 | descriptors 4 each, padded to 8
   */
  private static final int AF_UNIX = 1;
  private static final int SOCK_STREAM = 1;
  private static final int SOCK_SEQPACKET = 5;
  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_PEERCRED = 17;
  private static final int SO_RCVTIMEO = 20;
  private static final int SO_SNDTIMEO = 21;
  private static final int SCM_RIGHTS = 1;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int MSG_NOSIGNAL = 0x4000;
  private static final int MSG_CMSG_CLOEXEC = 0x40000000;
  private static final int MSG_CTRUNC = 0x8;
  private static final int MSG_TRUNC = 0x20;
  private static final int SHUT_RDWR = 2;
  private static final int EINTR = 4;
  private static final int EAGAIN = 11;
  private static final int ECONNRESET = 104;

  private static final int PATH_OFFSET = 2;
  private static final int PATH_BYTES = 108;
  private static final int HEADER_BYTES = 56;
  private static final int CONTROL_HEADER_BYTES = 16;
  private static final int BACKLOG = 4;

  /** The kernel passes no more at once. */
  public static final int MOST_DESCRIPTORS = 253;

  /**
   * What one {@link #receive} brought.
   *
   * @param text empty at the end, whether or not the other side had read everything
   * @param descriptors owned by the receiver
   */
  public record Message(String text, List<Integer> descriptors) {}

  /** A message was longer than {@link #receive} takes. It is lost, and the next one is not. */
  public static final class TooLong extends IOException {

    private static final long serialVersionUID = 1L;

    TooLong(int mostBytes) {
      super("cannot receive: a message of more than " + mostBytes + " octets");
    }
  }

  /**
   * Who is on the other side, as the kernel knows it.
   *
   * @param processId at the time of the connection
   */
  public record Peer(int processId, int userId) {}

  private final int descriptor;

  private UnixSocket(int descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Sends one datagram and forgets about it.
   *
   * @param path a file, or a name in the abstract name space after {@code @}
   * @param descriptors borrowed: the receiver gets copies
   * @throws IOException if nobody takes it
   */
  public static void sendDatagram(String path, String text, List<Integer> descriptors)
      throws IOException {
    try (UnixSocket socket = open(SOCK_DGRAM)) {
      socket.send(path, text, descriptors);
    }
  }

  /** Connects to who listens at {@code path}. */
  public static UnixSocket connect(String path) throws IOException {
    return bound(SOCK_SEQPACKET, SystemCall.CONNECT, "connect to", path);
  }

  /** Who listens for streams at {@code path}; null if nobody does. */
  public static @Nullable Peer listener(String path) {
    try (UnixSocket socket = bound(SOCK_STREAM, SystemCall.CONNECT, "connect to", path)) {
      return socket.peer();
    } catch (IOException nobody) {
      return null;
    }
  }

  /** Listens at {@code path}, where no file may be. */
  public static UnixSocket listen(String path) throws IOException {
    UnixSocket socket = bound(SOCK_SEQPACKET, SystemCall.BIND, "listen at", path);
    check("listen at " + path, SystemCall.LISTEN.call(socket.descriptor, BACKLOG, 0));
    return socket;
  }

  private static UnixSocket bound(int type, SystemCall call, String verb, String path)
      throws IOException {
    UnixSocket socket = open(type);
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment name = name(path, scope);
      check(verb + " " + path, call.call(socket.descriptor, name.address(), name.byteSize()));
      return socket;
    } catch (IOException failed) {
      socket.close();
      throw failed;
    }
  }

  private static UnixSocket open(int type) throws IOException {
    long opened = SystemCall.SOCKET.call(AF_UNIX, type | SOCK_CLOEXEC, 0);
    return new UnixSocket((int) check("open a socket", opened));
  }

  /** Waits for the next who connects; null if nobody does within the time-out. */
  public @Nullable UnixSocket accept() throws IOException {
    long accepted;
    do {
      accepted = SystemCall.ACCEPT4.call(descriptor, 0, 0, SOCK_CLOEXEC, 0, 0);
    } while (accepted == -EINTR);
    return accepted == -EAGAIN ? null : new UnixSocket((int) check("accept", accepted));
  }

  /** From now on, what waits longer for the other side fails. */
  public void timeout(Duration limit) throws IOException {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment time = scope.allocate(2 * Long.BYTES, Long.BYTES);
      time.set(ValueLayout.JAVA_LONG, 0, limit.toSeconds());
      time.set(ValueLayout.JAVA_LONG, Long.BYTES, limit.toNanosPart() / 1000);
      for (int option : new int[] {SO_RCVTIMEO, SO_SNDTIMEO}) {
        long set =
            SystemCall.SETSOCKOPT.call(
                descriptor, SOL_SOCKET, option, time.address(), time.byteSize(), 0);
        check("set a time-out", set);
      }
    }
  }

  /** Who connected, or listens. */
  public Peer peer() throws IOException {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment credentials = scope.allocate(3 * Integer.BYTES, Integer.BYTES);
      MemorySegment length = scope.allocateFrom(ValueLayout.JAVA_INT, 3 * Integer.BYTES);
      long got =
          SystemCall.GETSOCKOPT.call(
              descriptor, SOL_SOCKET, SO_PEERCRED, credentials.address(), length.address(), 0);
      check("ask who is there", got);
      return new Peer(
          credentials.get(ValueLayout.JAVA_INT, 0),
          credentials.get(ValueLayout.JAVA_INT, Integer.BYTES));
    }
  }

  /**
   * Sends a line, and descriptors with it.
   *
   * @param descriptors borrowed, {@link #MOST_DESCRIPTORS} at the most
   */
  public void send(String text, List<Integer> descriptors) throws IOException {
    send(null, text, descriptors);
  }

  /**
   * As {@link #send(String, List)}, but waits for nobody.
   *
   * @return whether there was room for it
   */
  public boolean offer(String text, List<Integer> descriptors) throws IOException {
    return send(null, text, descriptors, MSG_DONTWAIT);
  }

  private void send(@Nullable String to, String text, List<Integer> descriptors)
      throws IOException {
    if (!send(to, text, descriptors, 0)) {
      throw new IOException("cannot send: " + SystemCall.reason(-EAGAIN));
    }
  }

  private boolean send(@Nullable String to, String text, List<Integer> descriptors, int flags)
      throws IOException {
    byte[] octets = text.getBytes(StandardCharsets.UTF_8);
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment content = scope.allocateFrom(ValueLayout.JAVA_BYTE, octets);
      MemorySegment control = scope.allocate(controlBytes(descriptors.size()), Long.BYTES);
      control.set(
          ValueLayout.JAVA_LONG,
          0,
          CONTROL_HEADER_BYTES + (long) Integer.BYTES * descriptors.size());
      control.set(ValueLayout.JAVA_INT, 8, SOL_SOCKET);
      control.set(ValueLayout.JAVA_INT, 12, SCM_RIGHTS);
      for (int i = 0; i < descriptors.size(); i++) {
        control.set(
            ValueLayout.JAVA_INT,
            CONTROL_HEADER_BYTES + (long) i * Integer.BYTES,
            descriptors.get(i));
      }
      MemorySegment header =
          header(content, descriptors.isEmpty() ? MemorySegment.NULL : control, scope);
      if (to != null) {
        MemorySegment name = name(to, scope);
        header.set(ValueLayout.ADDRESS, 0, name);
        header.set(ValueLayout.JAVA_INT, 8, (int) name.byteSize());
      }
      long sent;
      do {
        sent = SystemCall.SENDMSG.call(descriptor, header.address(), MSG_NOSIGNAL | flags);
      } while (sent == -EINTR);
      if (sent == -EAGAIN) {
        return false;
      }
      if (check("send", sent) != octets.length) {
        throw new IOException(
            "cannot send: only " + sent + " of " + octets.length + " octets went");
      }
      return true;
    }
  }

  /**
   * Waits for what the other side sends.
   *
   * @param mostBytes of text
   * @throws TooLong if the other side has sent more at once
   */
  public Message receive(int mostBytes) throws IOException {
    try (Arena scope = Arena.ofConfined()) {
      MemorySegment content = scope.allocate(mostBytes);
      MemorySegment control = scope.allocate(controlBytes(MOST_DESCRIPTORS), Long.BYTES);
      MemorySegment header = header(content, control, scope);
      long received;
      do {
        received = SystemCall.RECVMSG.call(descriptor, header.address(), MSG_CMSG_CLOEXEC);
      } while (received == -EINTR);
      if (received == -ECONNRESET) {
        return new Message("", List.of());
      }
      check("receive", received);
      List<Integer> descriptors = descriptors(header, control);
      int flags = header.get(ValueLayout.JAVA_INT, 48);
      if ((flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
        descriptors.forEach(Descriptors::close);
        throw (flags & MSG_TRUNC) != 0
            ? new TooLong(mostBytes)
            : new IOException("cannot receive: too many descriptors at once");
      }
      byte[] octets = content.asSlice(0, received).toArray(ValueLayout.JAVA_BYTE);
      return new Message(new String(octets, StandardCharsets.UTF_8), descriptors);
    }
  }

  private static List<Integer> descriptors(MemorySegment header, MemorySegment control) {
    List<Integer> descriptors = new ArrayList<>();
    long length = header.get(ValueLayout.JAVA_LONG, 40);
    boolean isRights =
        length >= CONTROL_HEADER_BYTES
            && control.get(ValueLayout.JAVA_INT, 8) == SOL_SOCKET
            && control.get(ValueLayout.JAVA_INT, 12) == SCM_RIGHTS;
    if (isRights) {
      long end = control.get(ValueLayout.JAVA_LONG, 0);
      for (long at = CONTROL_HEADER_BYTES; at < end; at += Integer.BYTES) {
        descriptors.add(control.get(ValueLayout.JAVA_INT, at));
      }
    }
    return descriptors;
  }

  private static MemorySegment header(MemorySegment content, MemorySegment control, Arena scope) {
    MemorySegment vector = scope.allocate(2 * Long.BYTES, Long.BYTES);
    vector.set(ValueLayout.ADDRESS, 0, content);
    vector.set(ValueLayout.JAVA_LONG, Long.BYTES, content.byteSize());
    MemorySegment header = scope.allocate(HEADER_BYTES, Long.BYTES);
    header.set(ValueLayout.ADDRESS, 16, vector);
    header.set(ValueLayout.JAVA_LONG, 24, 1);
    header.set(ValueLayout.ADDRESS, 32, control);
    header.set(ValueLayout.JAVA_LONG, 40, control.byteSize());
    return header;
  }

  private static long controlBytes(int descriptors) {
    return CONTROL_HEADER_BYTES + (((long) descriptors * Integer.BYTES + 7) & -8);
  }

  private static MemorySegment name(String path, Arena scope) throws IOException {
    byte[] octets = path.getBytes(StandardCharsets.UTF_8);
    boolean isAbstract = path.startsWith("@");
    if (octets.length >= PATH_BYTES) {
      throw new IOException(
          path + ": longer than the " + (PATH_BYTES - 1) + " octets of a socket's path");
    }
    MemorySegment name = scope.allocate(PATH_OFFSET + octets.length + (isAbstract ? 0 : 1), 2);
    name.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
    MemorySegment.copy(octets, 0, name, ValueLayout.JAVA_BYTE, PATH_OFFSET, octets.length);
    if (isAbstract) {
      name.set(ValueLayout.JAVA_BYTE, PATH_OFFSET, (byte) 0);
    }
    return name;
  }

  private static long check(String what, long result) throws IOException {
    if (result < 0) {
      throw new IOException("cannot " + what + ": " + SystemCall.reason(result));
    }
    return result;
  }

  /** Ends what any thread waits for here. Any thread. */
  public void shutdown() {
    SystemCall.SHUTDOWN.call(descriptor, SHUT_RDWR, 0);
  }

  @Override
  public void close() {
    Descriptors.close(descriptor);
  }
}
