package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.tls.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

class MemberSocketsTest {

  private final BlockingQueue<Runnable> handshakes = new LinkedBlockingQueue<>();
  private final SSLContext context;
  private final MemberSockets sockets;

  MemberSocketsTest() throws Exception {
    Certificates authority = new Certificates("cluster");
    context = Certificates.server(authority.ecdsa("a"), authority.authority());
    sockets = new MemberSockets(context, 20_000, handshakes::add);
  }

  private ServerSocket listening() throws IOException {
    ServerSocket server = sockets.createServerSocket("test");
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    return server;
  }

  /** Whether the other side has closed it, before or after the handshake. */
  private static boolean isOver(SSLSocket socket) throws IOException {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SSLException | SocketException closed) {
      return true;
    }
  }

  private SSLSocket connected(ServerSocket server) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), server.getLocalPort());
    socket.setSoTimeout(10_000);
    return socket;
  }

  @Test
  void whoeverIsLetInAfterTheMembershipHasEndedIsClosed() throws Exception {
    ServerSocket server = listening();
    try (SSLSocket node = connected(server)) {
      Runnable handshake = handshakes.take();
      server.close();
      Thread.startVirtualThread(handshake);
      assertThat(isOver(node)).isTrue();
    }
  }

  @Test
  void whoeverWasLetInEndsWithTheMembership() throws Exception {
    ServerSocket server = listening();
    try (SSLSocket node = connected(server)) {
      Thread handshake = Thread.startVirtualThread(handshakes.take());
      node.startHandshake();
      handshake.join();
      try (Socket taken = server.accept()) {
        assertThat(taken.isClosed()).isFalse();
        server.close();
        assertThat(taken.isClosed()).isTrue();
        assertThat(isOver(node)).isTrue();
      }
    }
  }

  @Test
  void ofStrangersWhoSayNothingTheOldestMakesRoomForANode() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (ServerSocket server = listening()) {
      int limit = MemberSockets.HANDSHAKES_LIMIT;
      for (int count : new int[] {limit, limit + 1, limit + 200}) {
        while (silent.size() < count) {
          silent.add(new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()));
          Thread handshake = Thread.startVirtualThread(handshakes.take());
          while (handshake.getState() != Thread.State.TIMED_WAITING) {
            assertThat(handshake.isAlive()).as("it reads").isTrue();
            Thread.onSpinWait();
          }
        }
        for (Socket gone : silent.subList(0, count - limit)) {
          assertThat(gone.getInputStream().read()).isEqualTo(-1);
        }
        for (Socket left : List.of(silent.get(count - limit), silent.getLast())) {
          left.setSoTimeout(1);
          assertThatThrownBy(() -> left.getInputStream().read())
              .isInstanceOf(SocketTimeoutException.class);
        }
      }
      try (SSLSocket node = connected(server)) {
        Thread.startVirtualThread(handshakes.take());
        node.startHandshake();
        try (Socket taken = server.accept()) {
          assertThat(taken.isClosed()).isFalse();
        }
      }
    }
    for (Socket each : silent) {
      each.close();
    }
  }

  @Test
  void whatIsOpenedAfterTheMembershipHasEndedIsClosed() throws Exception {
    Socket before;
    try (ServerSocket server = listening()) {
      before = sockets.createSocket("test");
      assertThat(server.isClosed() || before.isClosed()).isFalse();
    }
    assertThat(before.isClosed()).isTrue();
    try (Socket after = sockets.createSocket("test")) {
      assertThat(after.isClosed()).isTrue();
    }
  }
}
