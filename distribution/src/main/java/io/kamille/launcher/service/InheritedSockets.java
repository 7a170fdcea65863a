package io.kamille.launcher.service;

import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.Descriptors;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Listening sockets that were there before us: from systemd (see {@code sd_listen_fds(3)}) or from
 * the process we succeed. Each is taken by the listener of its address; what nobody takes is
 * closed. Confined to the thread that starts.
 */
public final class InheritedSockets implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final int FIRST_DESCRIPTOR = 3;

  private record Inherited(int descriptor, InetSocketAddress address) {}

  private final List<Inherited> sockets = new ArrayList<>();

  private InheritedSockets() {}

  /** None. */
  public static InheritedSockets none() {
    return new InheritedSockets();
  }

  /** Those that systemd names in these variables, if it names them to us. */
  public static InheritedSockets of(Map<String, String> environment, long processId) {
    boolean isForUs = ("" + processId).equals(environment.get("LISTEN_PID"));
    String count = environment.getOrDefault("LISTEN_FDS", "");
    return isForUs && count.matches("[0-9]{1,4}")
        ? of(
            IntStream.range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + Integer.parseInt(count))
                .boxed()
                .toList())
        : none();
  }

  /**
   * These.
   *
   * @param descriptors owned from now on; what is no listening socket of IP is closed
   */
  static InheritedSockets of(List<Integer> descriptors) {
    InheritedSockets inherited = new InheritedSockets();
    for (int descriptor : descriptors) {
      InetSocketAddress address = address(descriptor);
      if (address == null) {
        LOG.log(
            Level.WARNING, "inherited descriptor {0} does not listen for TCP: closed", descriptor);
        Descriptors.close(descriptor);
      } else {
        Descriptors.neverBlock(descriptor);
        inherited.sockets.add(new Inherited(descriptor, address));
      }
    }
    return inherited;
  }

  private static @Nullable InetSocketAddress address(int descriptor) {
    return Descriptors.isListening(descriptor) ? Descriptors.localAddress(descriptor) : null;
  }

  /** Whether there are none left. */
  public boolean isEmpty() {
    return sockets.isEmpty();
  }

  /**
   * The descriptors of the sockets that listen on {@code address}; the caller owns them. Port 0
   * takes those of any port.
   */
  public List<Integer> take(InetSocketAddress address) {
    List<Integer> taken = new ArrayList<>();
    for (Iterator<Inherited> all = sockets.iterator(); all.hasNext(); ) {
      Inherited socket = all.next();
      if (listensOn(socket.address, address)) {
        taken.add(socket.descriptor);
        all.remove();
      }
    }
    return taken;
  }

  private static boolean listensOn(InetSocketAddress socket, InetSocketAddress wanted) {
    boolean isSamePort = wanted.getPort() == 0 || socket.getPort() == wanted.getPort();
    boolean isEverywhere = socket.getAddress().isAnyLocalAddress();
    return isSamePort
        && !wanted.isUnresolved()
        && (socket.getAddress().equals(wanted.getAddress())
            || (isEverywhere && wanted.getAddress().isAnyLocalAddress()));
  }

  /** Closes what nobody took, and tells whose address that was. */
  void closeRest(Consumer<String> closed) {
    for (Inherited socket : sockets) {
      String address = HostPort.text(socket.address);
      LOG.log(Level.INFO, "no listener on " + address + " any more: socket closed");
      Descriptors.close(socket.descriptor);
      closed.accept(address);
    }
    sockets.clear();
  }

  @Override
  public void close() {
    closeRest(address -> {});
  }
}
