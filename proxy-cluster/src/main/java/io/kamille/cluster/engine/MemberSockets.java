package io.kamille.cluster.engine;

import io.kamille.core.loop.SteadyTask;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jgroups.util.DefaultSocketFactory;
import org.jspecify.annotations.Nullable;

/** The sockets between nodes: TLS 1.3 with certificates of both sides. Any thread. */
final class MemberSockets extends DefaultSocketFactory {

  /*
   * JGroups has one thread that accepts, and this thread reads the first octets of a peer. A
   * stranger who sends none would keep all nodes out. So each handshake has a thread of its own
   * here, and JGroups gets only those that have shown a certificate. Of too many handshakes the
   * oldest ends: nodes need some milliseconds.
   *
   * With the port, all sockets close, wherever they are on their way. The other side of one that
   * nobody reads would go on answering the next membership there.
   */
  private static final String[] PROTOCOLS = {"TLSv1.3"};
  static final int HANDSHAKES_LIMIT = 256;
  private static final int BACKLOG = 256;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final SSLContext context;
  private final int handshakeMillis;
  private final Executor handshakes;
  private volatile @Nullable Guarded server;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final StrangerLines lines = new StrangerLines();

  MemberSockets(SSLContext context, int handshakeMillis, Executor handshakes) {
    super(context);
    this.context = context;
    this.handshakeMillis = handshakeMillis;
    this.handshakes = handshakes;
  }

  @Override
  public Socket createSocket(String service) throws IOException {
    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
    socket.setEnabledProtocols(PROTOCOLS);
    // A process that hangs accepts connections, and says nothing.
    socket.setSoTimeout(handshakeMillis);
    socket.addHandshakeCompletedListener(_ -> endless(socket));
    follow(socket);
    return socket;
  }

  /** Closes it with the port, or now if that has closed. */
  private void follow(Socket socket) {
    open.removeIf(Socket::isClosed);
    open.add(socket);
    Guarded listening = server;
    if (listening != null && listening.isClosed()) {
      shut(socket);
    }
  }

  private static void shut(Socket socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // As it shall be.
    }
  }

  private static void endless(Socket socket) {
    try {
      socket.setSoTimeout(0);
    } catch (SocketException closed) {
      // Then nobody reads from it.
    }
  }

  @Override
  public ServerSocket createServerSocket(String service) throws IOException {
    Guarded listening = new Guarded();
    server = listening;
    return listening;
  }

  /** Stops to listen, also where JGroups has begun to and does not accept yet. */
  void close() throws IOException {
    Guarded listening = server;
    if (listening != null) {
      listening.close();
    }
  }

  /** Accepts nodes alone. */
  private final class Guarded extends ServerSocket {

    private final BlockingQueue<Socket> nodes = new LinkedBlockingQueue<>();
    private final SequencedSet<Socket> strangers = new LinkedHashSet<>();

    Guarded() throws IOException {}

    @Override
    public void bind(@Nullable SocketAddress address, int backlog) throws IOException {
      super.bind(address, BACKLOG);
      SteadyTask accepting =
          new SteadyTask(
              System.getLogger("kamille.cluster"), "no node is accepted", this::acceptNext);
      Thread.ofVirtual()
          .name("kamille-cluster-accept")
          .start(() -> accepting.repeatUntil(this::isClosed));
    }

    @Override
    public Socket accept() throws IOException {
      try {
        return nodes.take();
      } catch (InterruptedException closed) {
        Thread.currentThread().interrupt();
        throw new SocketException("closed");
      }
    }

    private void acceptNext() {
      try {
        Socket stranger = super.accept();
        handshakes.execute(() -> shakeHands(stranger));
      } catch (IOException refused) {
        // Closed, or no descriptor is left for now.
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    private void shakeHands(Socket stranger) {
      begin(stranger);
      try {
        stranger.setSoTimeout(handshakeMillis);
        SSLSocket socket =
            (SSLSocket) context.getSocketFactory().createSocket(stranger, null, 0, true);
        socket.setUseClientMode(false);
        socket.setNeedClientAuth(true);
        socket.setEnabledProtocols(PROTOCOLS);
        socket.startHandshake();
        socket.setSoTimeout(0);
        end(stranger);
        follow(socket);
        nodes.add(socket);
      } catch (IOException | RuntimeException refused) {
        end(stranger);
        shut(stranger);
        lines.tell(stranger.getRemoteSocketAddress(), refused);
      }
    }

    private synchronized void begin(Socket stranger) {
      strangers.add(stranger);
      if (strangers.size() > HANDSHAKES_LIMIT) {
        Socket oldest = strangers.removeFirst();
        lines.tell(
            oldest.getRemoteSocketAddress(),
            new SSLException("more than " + HANDSHAKES_LIMIT + " handshakes at once"));
        shut(oldest);
      }
    }

    private synchronized void end(Socket stranger) {
      strangers.remove(stranger);
    }

    @Override
    public void close() throws IOException {
      super.close();
      synchronized (this) {
        strangers.forEach(MemberSockets::shut);
      }
      open.forEach(MemberSockets::shut);
    }
  }
}
