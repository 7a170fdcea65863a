package io.kamille.perf.soak;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/** An origin server on a loopback port; a virtual thread for each connection. Any thread. */
final class SoakOrigin implements AutoCloseable {

  private static final int BACKLOG = 1024;

  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Versions versions;
  private final Tally tally;
  private final SplittableRandom random;
  // Volatile: set by the operator, read for each connection.
  private volatile boolean isDown;

  private SoakOrigin(ServerSocket listening, Versions versions, Tally tally, long seed) {
    this.listening = listening;
    this.versions = versions;
    this.tally = tally;
    this.random = new SplittableRandom(seed);
  }

  /** Listens until it is closed. */
  static SoakOrigin open(Versions versions, Tally tally, long seed) throws IOException {
    var listening = new ServerSocket();
    listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    var origin = new SoakOrigin(listening, versions, tally, seed);
    Thread.ofVirtual().name("soak-origin").start(origin::accept);
    return origin;
  }

  int port() {
    return listening.getLocalPort();
  }

  /** While it is down, connections are reset as soon as they come. */
  void down(boolean down) {
    isDown = down;
  }

  /** How many connections are open. */
  int connections() {
    return open.size();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket socket = listening.accept();
        var own = random.split();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket, own));
      } catch (IOException e) {
        if (!listening.isClosed()) {
          tally.fail("origin: cannot accept: " + e.getMessage());
        }
      }
    }
  }

  private void serve(Socket socket, SplittableRandom own) {
    try (socket) {
      socket.setTcpNoDelay(true);
      if (isDown) {
        socket.setSoLinger(true, 0);
        return;
      }
      var connection = new OriginConnection(socket, versions, tally, own);
      while (connection.answerNext()) {
        tally.count("origin.answered");
      }
    } catch (IOException e) {
      tally.count("origin.broken-off");
    } catch (RuntimeException e) {
      tally.fail("origin: " + e);
    } finally {
      open.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
